"""The small squares inside a code: they confirm where a code is supposed to be, and tell how it is tilted."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.vision.finders import ACROSS, SMALLEST, Triple
from hardware.vision.pixels import Image

MODULE_PX = 3
SIDE = 5
# Beyond the code: room for squares that are not where they are supposed.
ROOM = 3
# In modules: how far a square may be from where it is supposed.
STRAY = 3.0
# How like a square a place must be; what is printed between them seldom reaches half.
LEAST_LIKENESS = 0.6
LEAST_SQUARES = 2


@dataclass(frozen=True, slots=True)
class Aligned:
    """How a code lies by its small squares, and how many of them are where they should be, from 0 to 1."""

    mapping: NDArray[np.float64]
    share: float


def squares_of(dimension: int) -> NDArray[np.float64]:
    """The middles of the small squares of a code, in modules."""
    version = (dimension - 17) // 4
    if dimension <= SMALLEST:
        return np.empty((0, 2))
    count = version // 7 + 2
    step = 26 if version == 32 else (version * 4 + count * 2 + 1) // (count * 2 - 2) * 2
    ends = (6, *(dimension - 7 - step * back for back in range(count - 2, -1, -1)))
    corners = {(6, 6), (6, dimension - 7), (dimension - 7, 6)}
    return np.array([(x + 0.5, y + 0.5) for y in ends for x in ends if (x, y) not in corners])


def aligned(image: Image, triple: Triple, dimension: int, mapping: NDArray[np.float64]) -> Aligned | None:
    """How a code lies that is supposed to lie about so; None where its small squares are not found.

    Looks twice: the squares that are found first tell where the others are.
    """
    expected, share = squares_of(dimension), 0.0
    if len(expected) < LEAST_SQUARES:
        return None
    for _ in range(2):
        middles, near = _found(image, mapping, dimension, expected)
        if near.sum() < LEAST_SQUARES:
            return None
        share, refined = float(near.mean()), _refitted(triple, dimension, expected[near], middles[near])
        if refined is None:
            return None
        mapping = refined
    return Aligned(mapping, share)


def resized(mapping: NDArray[np.float64], dimension: int, other: int) -> NDArray[np.float64]:
    """The same place for a code with another number of modules: the middles of its patterns stay where they are."""
    scale = (dimension - ACROSS) / (other - ACROSS)
    shift = ACROSS / 2 * (1 - scale)
    return np.asarray(mapping @ np.array([[scale, 0, shift], [0, scale, shift], [0, 0, 1]]))


def alternation(image: Image, mapping: NDArray[np.float64], dimension: int, lines: tuple[bool, bool]) -> float:
    """How well dark and light alternate on the line to the right, downwards, or both, from -1 to 1."""
    along = np.arange(ACROSS + 1, dimension - ACROSS - 1) + 0.5
    across = np.full_like(along, ACROSS - 0.5)
    ways = [way for way, counts in zip(((along, across), (across, along)), lines, strict=True) if counts]
    points = cv2.perspectiveTransform(np.array([np.column_stack(way) for way in ways]), mapping).astype(np.float32)
    values = cv2.remap(image, points[..., 0], points[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    steps = np.diff(values.astype(np.float64), axis=1)
    lighter = 1 - 2 * (np.arange(steps.shape[1]) % 2)
    return float((steps * lighter).sum() / max(1.0, np.abs(steps).sum()))


def _found(
    image: Image, mapping: NDArray[np.float64], dimension: int, expected: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Where in the image each small square is seen, and which are seen at all."""
    scaled = mapping @ np.array([[1 / MODULE_PX, 0, -ROOM], [0, 1 / MODULE_PX, -ROOM], [0, 0, 1]])
    side = (dimension + 2 * ROOM) * MODULE_PX
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    view = cv2.warpPerspective(image, scaled, (side, side), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    half, reach = SQUARE.shape[0] / 2, round(STRAY * MODULE_PX)
    middles, values = [], []
    for point in expected:
        left, top = (max(0, round((float(at) + ROOM) * MODULE_PX - half) - reach) for at in point)
        around = view[top : top + SQUARE.shape[0] + 2 * reach, left : left + SQUARE.shape[1] + 2 * reach]
        _, value, _, (x, y) = cv2.minMaxLoc(cv2.matchTemplate(around, SQUARE, cv2.TM_CCOEFF_NORMED))
        middles.append(((left + x + half) / MODULE_PX - ROOM, (top + y + half) / MODULE_PX - ROOM))
        values.append(value)
    seen = cv2.perspectiveTransform(np.array([middles], np.float64), mapping)[0]
    return np.asarray(seen, np.float64), np.array(values) >= LEAST_LIKENESS


def _refitted(
    triple: Triple, dimension: int, modules: NDArray[np.float64], seen: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Maps modules to pixels by the small squares and the corners that were seen."""
    low, high = ACROSS / 2, dimension - ACROSS / 2
    corners = ((triple.upper_left, (low, low)), (triple.upper_right, (high, low)), (triple.lower_left, (low, high)))
    known = [(middle, finder.middle) for finder, middle in corners if finder.seen]
    source = np.array([*(middle for middle, _ in known), *modules])
    target = np.array([*(at for _, at in known), *seen])
    if len(source) < 4:
        return None
    found, _ = cv2.findHomography(source, target, cv2.RANSAC, 3.0)
    return None if found is None else np.asarray(found, np.float64)


def _square() -> Image:
    side = SIDE * MODULE_PX
    drawn = np.zeros((side, side), np.uint8)
    drawn[MODULE_PX:-MODULE_PX, MODULE_PX:-MODULE_PX] = 255
    drawn[2 * MODULE_PX : -2 * MODULE_PX, 2 * MODULE_PX : -2 * MODULE_PX] = 0
    return np.asarray(cv2.GaussianBlur(drawn, (0, 0), 0.4 * MODULE_PX), np.uint8)


SQUARE = _square()
