"""Guests who come to the camera: what each holds up, and how it moves."""

from dataclasses import dataclass, replace

import numpy as np

from hardware.simulated.carriers import Carrier, Chance, Drawing, draw
from hardware.simulated.scene import Optics, Pose

SHARE: dict[Carrier, int] = {
    Carrier.PHONE: 30,
    Carrier.DARK_MODE: 12,
    Carrier.PAPER: 12,
    Carrier.DIM_PHONE: 8,
    Carrier.BRIGHT_PHONE: 6,
    Carrier.CRACKED: 6,
    Carrier.GLARE: 6,
    Carrier.FOLDED: 6,
    Carrier.PIXELS: 4,
    Carrier.INVERTED: 3,
    Carrier.CURVED: 3,
    Carrier.CROWDED: 2,
    Carrier.WORN: 1,
    Carrier.COLOURED: 1,
}
"""Of a hundred guests."""


@dataclass(frozen=True, slots=True)
class Guest:
    """One guest's way of holding up a code.

    `moment` runs from 0, stepping up, to 1, standing at the camera; who is not read by then comes closer and tilts.
    """

    text: str
    carrier: Carrier
    drawing: Drawing
    near_px: float
    far_px: float
    start: tuple[float, float]
    end: tuple[float, float]
    roll: float
    yaw: float
    pitch: float
    focus: float
    shake: float
    noise: float
    gain: float
    heading: float

    def pose(self, moment: float, width: int, height: int) -> Pose:
        """Where the code is; guests slow down while they come nearer."""
        way, longer = 1 - (1 - min(moment, 1)) ** 2, max(0.0, moment - 1)
        x, y = (first + (last - first) * way for first, last in zip(self.start, self.end, strict=True))
        size = self.far_px + (self.near_px - self.far_px) * way
        size *= min(1.6, 1 + 0.15 * longer)
        tremble = float(np.sin(moment * 23 + self.heading))
        straighter = max(0.2, 1.3 - 0.5 * way - 0.3 * longer)
        return Pose(x * width, y * height, size, self.roll + 2 * tremble, self.yaw * straighter, self.pitch)

    def optics(self, moment: float) -> Optics:
        """What the camera does to the frame at that moment."""
        return Optics(
            focus=self.focus,
            motion_px=self.shake * max(0.0, 1 - moment) * 2,
            motion_degrees=self.heading * 57,
            noise=self.noise,
            gain=self.gain,
        )


def a_guest(text: str, chance: Chance, frame_height: int, carrier: Carrier | None = None) -> Guest:
    """A guest drawn by chance, who comes as near to a camera of that height as guests do."""
    kind = carrier or list(SHARE)[int(chance.choice(len(SHARE), p=np.array(list(SHARE.values())) / 100))]
    scale = frame_height / 480
    return Guest(
        text=text,
        carrier=kind,
        drawing=draw(text, kind, chance),
        near_px=float(chance.uniform(2.1, 3.2)) * scale,
        far_px=float(chance.uniform(1.1, 1.5)) * scale,
        start=(float(chance.uniform(0.25, 0.75)), float(chance.uniform(0.35, 0.65))),
        end=(float(chance.uniform(0.42, 0.58)), float(chance.uniform(0.44, 0.56))),
        roll=float(chance.normal(0, 12)),
        yaw=float(chance.normal(0, 14)),
        pitch=float(chance.normal(0, 12)),
        focus=float(chance.uniform(0.6, 1.15)) * scale,
        shake=float(chance.uniform(0, 2.2)) * scale,
        noise=float(chance.uniform(2, 8)),
        gain=float(chance.uniform(0.8, 1.1)),
        heading=float(chance.uniform(0, 3.14)),
    )


def again(guest: Guest, chance: Chance, frame_height: int) -> Guest:
    """The same guest, who holds up the same thing anew; only a lamp is mirrored elsewhere in the glass."""
    fresh = a_guest(guest.text, chance, frame_height, guest.carrier)
    return fresh if guest.carrier is Carrier.GLARE else replace(fresh, drawing=guest.drawing)
