"""The squares that belong to one that is seen, though a fold or a lamp runs through them: found by comparing.

`finders` follows outlines, which a stripe without ink breaks. What is left of such a square is still more like a square
than anything else around it, and one that is whole tells how large it is and how it is turned.
"""

from collections.abc import Iterator
from itertools import combinations, permutations

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.vision.finders import ACROSS, Finder, Triple, rated_triple
from hardware.vision.pixels import Image

MODULE_PX = 2
QUIET = 1
# In modules: the sides of codes that guests hold up, up to version 9.
REACH = 50
# How like a square a place must be, from -1 to 1: less than half is left of one under a fold in hard shade.
LEAST_LIKENESS = 0.36
MOST_COMPANIONS = 6
LEAST_APART = 10
SKEWED = 1.2


def triples_of(whole: Finder, others: list[Finder]) -> list[Triple]:
    """Three squares of one code, of which one is seen whole and two are among its companions."""
    rated = [rated_triple(*order) for two in combinations(others, 2) for order in permutations((whole, *two))]
    return [triple for skew, triple in rated if skew < SKEWED]


def companions(image: Image, whole: Finder) -> list[Finder]:
    """The places around a square that are most like it, the likest first."""
    mapping = _upright(whole)
    side = 2 * REACH * MODULE_PX
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    straight = cv2.warpAffine(image, mapping, (side, side), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return [_placed(middle, mapping) for middle in _likest(np.asarray(straight, np.uint8))]


def _upright(whole: Finder) -> NDArray[np.float64]:
    """Maps pixels of a view, with the square upright in its middle, to pixels of the image."""
    around = whole.corners - whole.middle
    corners = whole.corners[np.argsort(np.arctan2(around[:, 1], around[:, 0]))]
    right = (corners[1] - corners[0] + corners[2] - corners[3]) / (2 * ACROSS * MODULE_PX)
    down = (corners[3] - corners[0] + corners[2] - corners[1]) / (2 * ACROSS * MODULE_PX)
    linear = np.column_stack([right, down])
    return np.column_stack([linear, whole.middle - linear @ np.full(2, REACH * MODULE_PX)])


def _likest(straight: Image) -> Iterator[NDArray[np.float64]]:
    """The middles of the places that are most like a square, in pixels of the view."""
    likeness = np.asarray(cv2.matchTemplate(straight, SQUARE, cv2.TM_CCOEFF_NORMED))
    half, near = SQUARE.shape[0] / 2, ACROSS // 2 * MODULE_PX
    apart = round(REACH * MODULE_PX - half)
    _forget(likeness, apart, apart, LEAST_APART * MODULE_PX)
    for _ in range(MOST_COMPANIONS):
        _, best, _, (x, y) = cv2.minMaxLoc(likeness)
        if best < LEAST_LIKENESS:
            return
        yield np.array([x + half, y + half])
        _forget(likeness, x, y, near)


def _forget(likeness: np.ndarray, x: int, y: int, near: int) -> None:
    likeness[max(0, y - near) : y + near + 1, max(0, x - near) : x + near + 1] = -1


def _placed(middle: NDArray[np.float64], mapping: NDArray[np.float64]) -> Finder:
    """A square of the view in pixels of the image."""
    reach = ACROSS / 2 * MODULE_PX
    points = middle + reach * np.array([(0, 0), (-1, -1), (1, -1), (1, 1), (-1, 1)])
    middle, *corners = points @ mapping[:, :2].T + mapping[:, 2]
    return Finder(middle, np.array(corners))


def _square() -> Image:
    """A square as a camera sees it."""
    side = (ACROSS + 2 * QUIET) * MODULE_PX
    drawn = np.full((side, side), 255, np.uint8)
    for rings, ink in ((0, 0), (1, 255), (2, 0)):
        edge = (QUIET + rings) * MODULE_PX
        drawn[edge : side - edge, edge : side - edge] = ink
    return np.asarray(cv2.GaussianBlur(drawn, (0, 0), 0.4 * MODULE_PX), np.uint8)


SQUARE = _square()
