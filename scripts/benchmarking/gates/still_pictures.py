"""Photographs of tickets as people send them: askew, of screens, spoiled, with two codes, or of twelve megapixels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import cv2
import numpy as np

from hardware.simulated.carriers import Carrier, Chance, draw
from hardware.simulated.scene import Optics, Pose, Scene
from hardware.vision.pixels import Image
from scripts.benchmarking.gates.hard_codes import HARD, Hard, ticket_text

Photograph = tuple[Image, list[str]]
"""A picture, and the texts of the codes in it."""
SMALL, LARGE = (1000, 800), (4000, 3000)


def _hard(hard: Hard, number: int) -> Photograph:
    """The first frame of what doors see."""
    frames, text = hard.frames(number)
    return frames[0], [text]


def _askew(chance: Chance, module_px: float, size: tuple[int, int], *, tilt: float = 10) -> Pose:
    """About in the middle of a picture of that size."""
    x, y = (side * float(chance.uniform(0.45, 0.55)) for side in size)
    return Pose(x, y, module_px, *(float(chance.normal(0, spread)) for spread in (12, tilt, tilt)))


def _tilted_both_ways(number: int) -> Photograph:
    chance, text = np.random.default_rng(number), ticket_text(number)
    yaw, pitch = (float(chance.uniform(25, 40)) for _ in range(2))
    pose = Pose(500, 400, 5, float(chance.normal(0, 8)), yaw, pitch)
    return Scene(*SMALL, chance).frame([(draw(text, Carrier.PAPER, chance), pose)], Optics()), [text]


def _beating(number: int) -> Photograph:
    """The pixels of a screen beat with those of the camera: waves over the whole picture."""
    chance, text = np.random.default_rng(number), ticket_text(number)
    pose = _askew(chance, float(chance.uniform(3, 6)), SMALL)
    taken = Scene(*SMALL, chance).frame([(draw(text, Carrier.PIXELS, chance), pose)], Optics(focus=0.4))
    rows, columns = np.indices(taken.shape)
    way, length = float(chance.uniform(0, np.pi)), float(chance.uniform(3, 14))
    waves = np.sin((columns * np.cos(way) + rows * np.sin(way)) * 2 * np.pi / length)
    return np.asarray(np.clip(taken * (1 + 0.25 * waves), 0, 255), np.uint8), [text]


def _covered(number: int) -> Photograph:
    """Some spots: stickers, thumbs, drops."""
    chance, text = np.random.default_rng(number), ticket_text(number)
    pose = Pose(500, 400, float(chance.uniform(3.5, 5)), float(chance.normal(0, 10)))
    taken = Scene(*SMALL, chance).frame([(draw(text, Carrier.PAPER, chance), pose)], Optics())
    for _ in range(int(chance.integers(1, 4))):
        at = chance.integers((400, 300), (600, 500)).tolist()
        cv2.circle(taken, at, int(chance.integers(12, 26)), int(chance.integers(0, 255)), -1)
    return taken, [text]


def _two(carriers: tuple[Carrier, Carrier], number: int) -> Photograph:
    """Two codes beside each other."""
    chance, texts = np.random.default_rng(number), [ticket_text(number), ticket_text(number + 1)]
    held = [
        (draw(text, carrier, chance), _askew(chance, float(chance.uniform(3, 4.5)), (640 + 1280 * place, 960)))
        for place, (text, carrier) in enumerate(zip(texts, carriers, strict=True))
    ]
    return Scene(1280, 960, chance).frame(held, Optics(noise=4)), texts


def _out_of_focus(number: int) -> Photograph:
    chance, text = np.random.default_rng(number), ticket_text(number)
    optics = Optics(focus=float(chance.uniform(1.8, 2.6)))
    return Scene(*SMALL, chance).frame([(draw(text, Carrier.PHONE, chance), _askew(chance, 4, SMALL))], optics), [text]


def _of_twelve_megapixels(module_px: float, optics: Optics, number: int) -> Photograph:
    chance, text = np.random.default_rng(number), ticket_text(number)
    pose = _askew(chance, module_px * float(chance.uniform(0.8, 1.3)), LARGE)
    return Scene(*LARGE, chance).frame([(draw(text, Carrier.PAPER, chance), pose)], optics), [text]


SMALL_PICTURES: dict[str, Callable[[int], Photograph]] = {
    **{hard.name: partial(_hard, hard) for hard in HARD},
    "tilted both ways": _tilted_both_ways,
    "waves over a screen": _beating,
    "covered by spots": _covered,
    "out of focus": _out_of_focus,
    "two easy codes": partial(_two, (Carrier.PHONE, Carrier.PAPER)),
    "two hard codes": partial(_two, (Carrier.DARK_MODE, Carrier.FOLDED)),
}
LARGE_PICTURES: dict[str, Callable[[int], Photograph]] = {
    "12 megapixels near": partial(_of_twelve_megapixels, 13, Optics(focus=2, noise=6)),
    "12 megapixels far": partial(_of_twelve_megapixels, 3.5, Optics(focus=1.2, noise=8, jpeg=60)),
}
