"""A camera for the gate's screen: a simulated guest stands in front of it, and the decoder has found the code."""

import numpy as np

from hardware.ports import Picture
from hardware.simulated.carriers import Carrier, draw
from hardware.simulated.scene import Optics, Pose, Scene
from hardware.vision.stills import decode_still
from hardware.vision.viewfinder import Viewfinder
from tests.unit.hardware.images import ticket_text


class CameraAtTheDoor:
    """Always the same picture, under a new number whenever it is asked for; `asked` counts."""

    def __init__(self) -> None:
        self.asked = 0
        self._jpeg = picture_of_a_guest()

    def picture(self, after: int, timeout_s: float) -> Picture | None:
        del timeout_s
        self.asked += 1
        return Picture(after + 1, self._jpeg)


def picture_of_a_guest() -> bytes:
    """A phone held up, its code outlined, as the viewfinder shows it."""
    chance = np.random.default_rng(12)
    scene = Scene(1280, 720, chance)
    pose = Pose(640, 340, 5, roll=7, yaw=12, pitch=-6)
    frame = scene.frame([(draw(ticket_text(), Carrier.DARK_MODE, chance), pose)], Optics(noise=4))
    viewfinder = Viewfinder(lambda: 0)
    viewfinder.picture(-1, 0)
    viewfinder.show(frame, decode_still(frame))
    picture = viewfinder.picture(-1, 0)
    assert picture is not None
    return picture.jpeg
