"""Codes that doors also see: turned, tilted, bent, faint, covered, far away, or spoiled by the camera."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from hardware.simulated.carriers import Carrier, Chance, draw
from hardware.simulated.scene import Optics, Pose, Scene
from hardware.vision.pixels import Image

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
FRAMES = 6
LETTERS = 170


def ticket_text(seed: int) -> str:
    """174 characters like a ticket's, and nobody's ticket."""
    return "MAY1" + "".join(ALPHABET[n] for n in np.random.default_rng(seed).integers(0, len(ALPHABET), LETTERS))


Held = Callable[[Chance], Pose]


def _straight(module_px: float = 3.5, width: int = 1280, height: int = 720) -> Held:
    return lambda chance: Pose(
        width * float(chance.uniform(0.4, 0.6)),
        height * float(chance.uniform(0.45, 0.55)),
        module_px,
        float(chance.normal(0, 5)),
    )


def _turned(chance: Chance) -> Pose:
    return Pose(640, 360, 3.5, roll=float(chance.uniform(0, 360)))


def _tilted(low: float, high: float) -> Held:
    def pose(chance: Chance) -> Pose:
        tilt, sign = float(chance.uniform(low, high)), 1 if chance.random() < 0.5 else -1
        yaw, pitch = (sign * tilt, 0.0) if chance.random() < 0.5 else (0.0, sign * tilt)
        return Pose(640, 360, 4.5, float(chance.normal(0, 5)), yaw, pitch)

    return pose


@dataclass(frozen=True)
class Hard:
    """One kind of difficulty."""

    name: str
    carrier: Carrier = Carrier.PHONE
    pose: Held = field(default_factory=_straight)
    optics: Optics = field(default_factory=Optics)
    width: int = 1280
    height: int = 720

    def frames(self, number: int) -> tuple[list[Image], str]:
        """Some frames of one code, and its text."""
        chance, text = np.random.default_rng(number), ticket_text(number)
        scene, drawing, pose = (
            Scene(self.width, self.height, chance),
            draw(text, self.carrier, chance),
            self.pose(chance),
        )
        return [scene.frame([(drawing, pose)], self.optics) for _ in range(FRAMES)], text


HARD = (
    Hard("turned any way", pose=_turned),
    Hard("inverted", Carrier.INVERTED),
    Hard("tilted 45 degrees", pose=_tilted(43, 47)),
    Hard("tilted 60 degrees", pose=_tilted(58, 62)),
    Hard("curved paper", Carrier.CURVED),
    Hard("folded paper", Carrier.FOLDED),
    Hard("low contrast", Carrier.DIM_PHONE, optics=Optics(noise=6)),
    Hard("covered quiet zone", Carrier.CROWDED),
    Hard("coloured", Carrier.COLOURED),
    Hard("jpeg artefacts", pose=_straight(2.5), optics=Optics(jpeg=25)),
    Hard("visible pixels", Carrier.PIXELS, pose=_straight(2.5)),
    Hard("modules of 1.5 px", pose=_straight(1.5)),
    Hard("tiny in 1080p", pose=_straight(1.9, 1920, 1080), width=1920, height=1080),
    Hard("overexposed", optics=Optics(gain=1.5, lift=90)),
    Hard("glare", Carrier.GLARE),
    Hard("cracked", Carrier.CRACKED),
    Hard("worn print", Carrier.WORN),
    Hard("shaken", optics=Optics(motion_px=5, motion_degrees=30)),
)
