"""Guests who hold a phone up to a 720p webcam, as the JPEG frames that it sends, thirty a second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from hardware.simulated.carriers import Drawing
from hardware.simulated.guests import Guest, a_guest
from hardware.simulated.scene import Optics, Pose, Scene, homography

WIDTH, HEIGHT, FRAMES_A_SECOND = 1280, 720, 30
EMPTY_FRAMES, MOVING_FRAMES, HELD_FRAMES = 12, 12, 30
EXPOSURE = 0.35
"""The part of a frame's time in which light is collected."""
IN_VIEW_PX, SHARP_PX = 3.0, 1.0
"""A code is in view while it moves less than so far during the exposure, and sharp while it moves less than so far."""
QUALITY = 85


@dataclass(frozen=True, slots=True)
class FilmFrame:
    """One frame; the guest in it from 0 on, or -1; and whether the code is whole and slow, or as good as still."""

    jpeg: bytes
    guest: int
    in_view: bool
    sharp: bool


def film(texts: Sequence[str], seed: int = 1) -> Iterator[FilmFrame]:
    """The frames of guests one after the other."""
    chance = np.random.default_rng(seed)
    scene = Scene(WIDTH, HEIGHT, chance)
    for number, text in enumerate(texts):
        guest = a_guest(text, chance, HEIGHT)
        for _ in range(EMPTY_FRAMES):
            yield FilmFrame(_sent(scene.frame([], Optics(noise=guest.noise))), -1, False, False)
        for step in range(MOVING_FRAMES + HELD_FRAMES):
            yield _shown(scene, guest, number, step)


def _shown(scene: Scene, guest: Guest, number: int, step: int) -> FilmFrame:
    """A phone comes in from the side, slows down and is held, trembling."""
    here, before = _pose(guest, step), _pose(guest, step - 1)
    moved = EXPOSURE * float(np.hypot(here.x - before.x, here.y - before.y))
    optics = replace(guest.optics(1), motion_px=moved, motion_degrees=0.0)
    whole = _is_whole(guest.drawing, here)
    pixels = scene.frame([(guest.drawing, here)], optics)
    return FilmFrame(_sent(pixels), number, whole and moved <= IN_VIEW_PX, whole and moved <= SHARP_PX)


def _pose(guest: Guest, step: int) -> Pose:
    held = guest.pose(1 + max(0, step) / FRAMES_A_SECOND, WIDTH, HEIGHT)
    left = (1 - min(1, max(0, step) / MOVING_FRAMES)) ** 3
    return replace(held, x=held.x - left * WIDTH * 0.75)


def _is_whole(drawing: Drawing, pose: Pose) -> bool:
    corners = np.column_stack([drawing.code, np.ones(4)]) @ homography(drawing, pose, WIDTH).T
    points = corners[:, :2] / corners[:, 2:]
    return bool((points > 0).all() and (points < (WIDTH, HEIGHT)).all())


def _sent(pixels: np.ndarray) -> bytes:
    # In colour, as webcams send it: taking it apart is a part of the work.
    _, content = cv2.imencode(".jpg", cv2.cvtColor(pixels, cv2.COLOR_GRAY2BGR), [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    return content.tobytes()
