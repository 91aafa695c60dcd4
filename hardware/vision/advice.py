"""What somebody can do about a code that cannot be read, from measurements of the frame."""

import cv2
import numpy as np

from hardware.ports import Hint
from hardware.vision.pixels import Image
from hardware.vision.stages import Area, Corners, area_of

# A ticket's code has 45 modules, and a camera needs two pixels for each.
READABLE_PX = 90
BLACK_WHITE_APART = 45
DIM_WHITE, GLARING_BLACK = 110, 150
DARK_PLACE, LIGHT_PLACE = 28, 215


def advice(image: Image, located: Corners | None, moved: Area | None) -> Hint | None:
    """The hint for a frame without a readable code; None while nobody seems to hold anything up."""
    if located is not None:
        return _about_code(image, located)
    return _about_light(image) if moved else None


def _about_code(image: Image, corners: Corners) -> Hint:
    dark, light = np.percentile(image[area_of(corners, image)][::2, ::2], (5, 95))
    if dark > GLARING_BLACK:
        return Hint.TOO_BRIGHT
    if light < DIM_WHITE and light - dark < BLACK_WHITE_APART:
        return Hint.TOO_DARK
    return Hint.COME_CLOSER if _side(corners) < READABLE_PX else Hint.HOLD_STILL


def _about_light(image: Image) -> Hint | None:
    level = float(image[::16, ::16].mean())
    if level < DARK_PLACE:
        return Hint.TOO_DARK
    return Hint.TOO_BRIGHT if level > LIGHT_PLACE else None


def _side(corners: Corners) -> float:
    points = np.array(corners, dtype=np.float64)
    return float(np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1).mean())


def is_dark(jpeg: bytes) -> bool:
    """Whether a picture of a camera shows a place too dark to read anything."""
    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_GRAYSCALE)
    return image is not None and _about_light(image.astype(np.uint8)) is Hint.TOO_DARK
