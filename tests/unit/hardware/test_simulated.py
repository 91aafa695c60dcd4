"""Simulated guests: the same seed gives the same frames, and what they show can be read by a camera near enough."""

import numpy as np
import pytest
import zxingcpp

from hardware.simulated.carriers import Carrier, draw
from hardware.simulated.guests import SHARE, a_guest
from hardware.simulated.scene import Optics, Pose, Scene
from hardware.vision.pixels import Image
from hardware.vision.stills import decode_still
from tests.unit.hardware.images import ticket_text

TEXT = ticket_text()


def seen(carrier: Carrier, pose: Pose, seed: int = 1) -> Image:
    chance = np.random.default_rng(seed)
    scene = Scene(1280, 720, chance)
    return scene.frame([(draw(TEXT, carrier, chance), pose)], Optics(noise=2))


@pytest.mark.parametrize("carrier", Carrier)
def test_everything_that_guests_show_is_a_readable_ticket_close_up(carrier: Carrier) -> None:
    close = Pose(640, 360, 5, roll=8, yaw=10, pitch=-5)
    read = [seed for seed in range(4) if decode_still(seen(carrier, close, seed)).codes == (TEXT,)]
    assert len(read) >= 3


def test_a_code_is_where_its_pose_says() -> None:
    (found,) = zxingcpp.read_barcodes(seen(Carrier.PHONE, Pose(500, 300, 4)))
    corners = (found.position.top_left, found.position.bottom_right)
    middle = [sum(getattr(corner, axis) for corner in corners) / 2 for axis in "xy"]
    assert (abs(middle[0] - 500) < 4, abs(middle[1] - 300) < 4) == (True, True)
    assert abs(corners[1].x - corners[0].x - 45 * 4) < 8


def test_the_same_seed_gives_the_same_guest_and_another_seed_another() -> None:
    def frame(seed: int) -> Image:
        chance = np.random.default_rng(seed)
        guest = a_guest(TEXT, chance, 480)
        return Scene(640, 480, chance).frame([(guest.drawing, guest.pose(0.6, 640, 480))], guest.optics(0.6))

    assert np.array_equal(frame(5), frame(5))
    assert not np.array_equal(frame(5), frame(6))


def test_the_shares_of_guests_are_a_whole() -> None:
    assert sum(SHARE.values()) == 100
    assert set(SHARE) == set(Carrier)
