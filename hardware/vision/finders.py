"""The squares in the corners of QR codes, found one by one: a decoder that misses one of them reads nothing."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.vision.pixels import Image

Point = NDArray[np.float64]

ACROSS = 7
"""The modules of a finder pattern, from edge to edge."""
LEAST_SIDE_PX = 8
MOST_PATTERNS = 14
# A ring of 7 modules around a square of 3 has 49 : 9 the area; blur and tilt change that.
RING_TO_CORE = (2.2, 12.0)
OFF_CENTRE = 0.2
SMALLEST, LARGEST = 21, 177
# The cosine of how far the side of a small pattern may seem to be turned, and how unlike two guesses must be.
PARALLEL = 0.92
DIFFERENT = 0.06


@dataclass(frozen=True)
class Finder:
    """One finder pattern: its middle, and the corners of its outer square in order."""

    middle: Point
    corners: NDArray[np.float64]
    seen: bool = True
    """Whether it was found, and not only supposed from two others."""

    @cached_property
    def module(self) -> float:
        """The size of a module here, in pixels."""
        sides = self.corners - self.corners[[3, 0, 1, 2]]
        return float(np.sqrt((sides * sides).sum(axis=1)).mean()) / ACROSS

    def shrunk(self, scale: float) -> "Finder":
        """The same in an image that is smaller by `scale`."""
        return Finder(self.middle / scale, self.corners / scale, self.seen)


@dataclass(frozen=True)
class Triple:
    """Three finder patterns that belong to one code: upper left, upper right, lower left as printed."""

    upper_left: Finder
    upper_right: Finder
    lower_left: Finder

    @cached_property
    def dimension(self) -> int:
        """How many modules the code has across, as far as the distances tell."""
        across = np.linalg.norm(self.upper_right.middle - self.upper_left.middle)
        down = np.linalg.norm(self.lower_left.middle - self.upper_left.middle)
        module = np.mean([one.module for one in (self.upper_left, self.upper_right, self.lower_left)])
        return nearest_dimension(float((across + down) / 2 / module) + ACROSS)

    @property
    def outline(self) -> NDArray[np.float64]:
        """The corners of the code, clockwise, with the fourth where it is without perspective."""
        one, right, down = self.upper_left.middle, self.upper_right.middle, self.lower_left.middle
        share = ACROSS / 2 / (self.dimension - ACROSS)
        x, y = (right - one) * share, (down - one) * share
        return np.array([one - x - y, right + x - y, right + down - one + x + y, down - x + y])


def nearest_dimension(modules: float) -> int:
    """The nearest number of modules that a code can have across."""
    return min(LARGEST, max(SMALLEST, round((modules - 17) / 4) * 4 + 17))


def finders(image: Image, windows: tuple[int, ...] = ()) -> list[Finder]:
    """The finder patterns of an image, dark on light, the largest first.

    Dark is what is darker than its surroundings within each of `windows`, in pixels; without any, within parts of the
    image.
    """
    found: list[Finder] = []
    # Grain has as many contours as a picture has pixels.
    soft = cv2.GaussianBlur(image, (0, 0), 0.8)
    for around in windows or tuple(round(min(image.shape) / divisor) | 1 for divisor in (8, 24)):
        level = cv2.adaptiveThreshold(soft, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, max(3, around), 6)
        for finder in _in_levels(np.asarray(level, np.uint8)):
            if not is_among(finder, found):
                found.append(finder)
    return sorted(found, key=lambda finder: -finder.module)[:MOST_PATTERNS]


def is_among(one: Finder, others: list[Finder]) -> bool:
    """Whether one of the others is the same pattern."""
    return any(np.linalg.norm(one.middle - other.middle) <= 2 * min(one.module, other.module) for other in others)


def _in_levels(level: Image) -> Iterator[Finder]:
    """A square in a hole of a ring, all with one middle."""
    contours, found = cv2.findContours(level, cv2.RETR_TREE, cv2.CHAIN_APPROX_SIMPLE)
    if not contours:
        return
    parents = np.asarray(found, np.int32)[0][:, 3]
    for core, ring in _nested(parents):
        middle, area = _middle_and_area(contours[ring])
        if area < LEAST_SIDE_PX**2:
            continue
        inner_middle, inner = _middle_and_area(contours[core])
        if not area / RING_TO_CORE[1] < inner < area / RING_TO_CORE[0]:
            continue
        if np.linalg.norm(inner_middle - middle) < OFF_CENTRE * area**0.5:
            corners = _corners(contours[ring])
            if corners is not None:
                yield Finder(corners.mean(axis=0), corners)


def _nested(parents: NDArray[np.int32]) -> Iterator[tuple[int, int]]:
    """Each outer contour in a hole, and the outer contour around that hole."""
    within, is_hole = parents, np.zeros(len(parents), np.bool_)
    while np.any(within >= 0):
        is_hole ^= within >= 0
        within = np.where(within >= 0, parents[within], -1)
    cores = np.flatnonzero(~is_hole & (parents >= 0))
    return zip(cores.tolist(), parents[parents[cores]].tolist(), strict=True)


def _middle_and_area(contour: np.ndarray) -> tuple[Point, float]:
    x, y, width, height = cv2.boundingRect(contour)
    return np.array([x + width / 2, y + height / 2]), max(1.0, cv2.contourArea(contour))


def _corners(contour: np.ndarray) -> NDArray[np.float64] | None:
    """The corners of a ring, if it is about a square seen from somewhere."""
    hull = cv2.convexHull(contour)
    area = cv2.contourArea(hull)
    quad = cv2.approxPolyDP(hull, 0.1 * cv2.arcLength(hull, True), True)
    if len(quad) != 4:
        quad = cv2.boxPoints(cv2.minAreaRect(hull)).reshape(-1, 1, 2)
    if cv2.contourArea(np.asarray(quad, np.float32)) > 1.5 * area:
        return None
    return np.asarray(quad, np.float64).reshape(4, 2)


def triples(found: list[Finder]) -> list[Triple]:
    """Three of them that may be the corners of one code, the likeliest first."""
    rated: list[tuple[float, Triple]] = []
    for three in combinations(found, 3):
        modules = [one.module for one in three]
        if max(modules) > 2.5 * min(modules):
            continue
        best = min((rated_triple(*order) for order in permutations(three)), key=lambda rating: rating[0])
        if best[0] < 1.2:
            rated.append(best)
    return [triple for _, triple in sorted(rated, key=lambda rating: rating[0])]


def rated_triple(corner: Finder, right: Finder, down: Finder) -> tuple[float, Triple]:
    """How far three patterns are from a square's corners: unequal legs, a skew angle, a mirrored order."""
    triple = Triple(corner, right, down)
    left, top = corner.middle.tolist()
    (x, y), (u, v) = right.middle.tolist(), down.middle.tolist()
    x, y, u, v = x - left, y - top, u - left, v - top
    across, downward = math.hypot(x, y), math.hypot(u, v)
    if x * v - y * u <= 0 or min(across, downward) < 10 * corner.module * 0.6:
        return 9.0, triple
    cosine = abs(x * u + y * v) / (across * downward)
    return abs(math.log(across / downward)) + cosine, triple


def homography(triple: Triple, dimension: int) -> NDArray[np.float64] | None:
    """Maps modules of the code to pixels, from the corners of those of its patterns that were found."""
    modules, pixels = [], []
    middles = np.array([[3.5, 3.5], [dimension - 3.5, 3.5], [3.5, dimension - 3.5]], np.float32)
    three = (triple.upper_left, triple.upper_right, triple.lower_left)
    flat = cv2.getAffineTransform(middles, np.array([one.middle for one in three], np.float32))
    for finder, middle in zip(three, middles, strict=True):
        if not finder.seen:
            continue
        for corner in ((-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)):
            module = middle + np.array(corner, np.float32)
            expected = flat[:, :2] @ module + flat[:, 2]
            nearest = finder.corners[np.argmin(np.linalg.norm(finder.corners - expected, axis=1))]
            modules.append(module)
            pixels.append(nearest)
    mapping, _ = cv2.findHomography(np.array(modules, np.float32), np.array(pixels, np.float32), 0)
    return None if mapping is None else np.asarray(mapping, np.float64)


def homography_without_tilt(triple: Triple, dimension: int) -> NDArray[np.float64]:
    """Maps modules to pixels by the middles of the three patterns alone."""
    middles = np.array([[3.5, 3.5], [dimension - 3.5, 3.5], [3.5, dimension - 3.5]], np.float32)
    seen = np.array([one.middle for one in (triple.upper_left, triple.upper_right, triple.lower_left)], np.float32)
    return np.vstack([cv2.getAffineTransform(middles, seen), [0, 0, 1]])


def hidden_thirds(found: list[Finder]) -> Iterator[Triple]:
    """Each two patterns with a third, at each place where a reflection or a fold may hide it."""
    for one, other in combinations(found, 2):
        if max(one.module, other.module) > 1.8 * min(one.module, other.module):
            continue
        along = other.middle - one.middle
        modules = float(np.linalg.norm(along)) / ((one.module + other.module) / 2)
        if SMALLEST - ACROSS - 2 <= modules <= (LARGEST - ACROSS) * 1.5:
            yield from _beside(one, other, along, modules)
            yield from _across_from(one, other)


def _beside(one: Finder, other: Finder, along: Point, modules: float) -> Iterator[Triple]:
    """The two are neighbours: the third is beside either, on either side, as far away as they are from each other."""
    step = along / (nearest_dimension(modules + ACROSS) - ACROSS)
    if not (_runs_along(one, step) and _runs_along(other, step)):
        return
    length = float(np.linalg.norm(step))
    square = np.array([-step[1], step[0]])
    tilted = (_side_across(one, step) + _side_across(other, step) * _same_way(one, other, step)) / 2
    tilted *= 1 if tilted @ square > 0 else -1
    downs = [tilted * length / max(1e-6, float(np.linalg.norm(tilted)))]
    downs += [down for down in (tilted, square) if np.linalg.norm(down - downs[0]) > DIFFERENT * length]
    for down in downs:
        for sign in (1, -1):
            for base, end in ((one, other), (other, one)):
                middle = base.middle + sign * down * float(np.linalg.norm(along)) / length
                yield _in_order(base, end, _supposed(middle, step, down))


def _runs_along(finder: Finder, step: Point) -> bool:
    """Whether a side of the pattern runs in that direction, as to a neighbour."""
    sides = _sides(finder)
    lengths = np.linalg.norm(sides, axis=1) * np.linalg.norm(step) + 1e-9
    return bool(np.abs(sides @ step / lengths).max() > PARALLEL)


def _same_way(one: Finder, other: Finder, step: Point) -> int:
    return 1 if float(_side_across(one, step) @ _side_across(other, step)) > 0 else -1


def _across_from(one: Finder, other: Finder) -> Iterator[Triple]:
    """The two stand at the ends of a diagonal: the third is at one of the other two corners."""
    along = other.middle - one.middle
    right = _side_towards(one, along)
    down = _side_across(one, right)
    basis = np.column_stack([right, down])
    if abs(np.linalg.det(basis)) < 1e-6:
        return
    x, y = np.linalg.solve(basis, along)
    if not 0.6 < abs(x) / max(1e-6, abs(y)) < 1.7:
        return
    for middle in (one.middle + x * right, one.middle + y * down):
        yield _in_order(_supposed(middle, right, down), one, other)


def _supposed(middle: Point, right: Point, down: Point) -> Finder:
    square = [middle + ACROSS / 2 * (x * right + y * down) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return Finder(middle, np.array(square), seen=False)


def _in_order(corner: Finder, one: Finder, other: Finder) -> Triple:
    """The patterns of a code that is not mirrored."""
    x, y = one.middle - corner.middle, other.middle - corner.middle
    return Triple(corner, one, other) if x[0] * y[1] > x[1] * y[0] else Triple(corner, other, one)


def _sides(finder: Finder) -> NDArray[np.float64]:
    return (np.roll(finder.corners, -1, axis=0) - finder.corners) / ACROSS


def _side_across(finder: Finder, along: Point) -> Point:
    """The module of a pattern that runs most across a direction."""
    sides = _sides(finder)
    cosines = np.abs(sides @ along) / (np.linalg.norm(sides, axis=1) * np.linalg.norm(along) + 1e-9)
    return np.asarray(sides[np.argmin(cosines)])


def _side_towards(finder: Finder, along: Point) -> Point:
    sides = _sides(finder)
    return np.asarray(sides[np.argmax(sides @ along)])
