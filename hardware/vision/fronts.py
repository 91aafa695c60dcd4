"""Codes seen from the front, by the squares in their corners: for those of which a decoder misses a square."""

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.vision.finders import (
    ACROSS,
    LARGEST,
    SMALLEST,
    Finder,
    Triple,
    finders,
    hidden_thirds,
    homography,
    triples,
)
from hardware.vision.pixels import Image
from hardware.vision.stages import Corners, Found, Stage, blurred, enlarged, unsharp

MODULE_PX = 5
QUIET = 4
# In smaller areas the rings of a code that is far away are one pixel wide.
SMALL_AREA, CLOSER = 160_000, 2.0
# In pixels of the enlarged area: somewhat wider than the patterns of codes that guests hold up.
WINDOW = 43
MOST_PATTERNS = 6
STRAIGHTENED = "straightened"
# The line of dark and light modules between two squares: of lines through print and rooms few alternate so well.
LEAST_TIMING = 0.3
TIMING = ACROSS - 0.5
"""The middle of that line, from the edge of the code."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What may be a code: three patterns, how many modules it has across, and how well its modules fit."""

    triple: Triple
    dimension: int
    fit: float


def patterns(image: Image) -> list[Finder]:
    """The finder patterns of a frame's part; in a small one also those that are small, dim or out of focus."""
    if image.size >= SMALL_AREA:
        return finders(image, (WINDOW,))[:MOST_PATTERNS]
    clear = unsharp(enlarged(image, CLOSER), 1.5 * CLOSER)
    return [one.shrunk(CLOSER) for one in finders(clear, (WINDOW,))[:MOST_PATTERNS]]


def candidates(image: Image, found: list[Finder]) -> list[Candidate]:
    """Where codes may be by the patterns that were found, the likeliest first."""
    places = [*triples(found), *hidden_thirds(found)]
    if not places:
        return []
    guessed = np.array([triple.dimension for triple in places])
    sizes = np.clip(guessed[:, None] + np.array([0, 4, -4]), SMALLEST, LARGEST)
    fits = timing(image, places, sizes)
    best = fits.argmax(axis=1)
    likely = [
        Candidate(triple, int(sizes[n, best[n]]), float(fits[n, best[n]]))
        for n, triple in enumerate(places)
        if fits[n, best[n]] >= LEAST_TIMING
    ]
    return sorted(likely, key=lambda candidate: -candidate.fit)


def timing(image: Image, places: list[Triple], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """How well dark and light alternate between the patterns of each place, for each of its sizes, from -1 to 1.

    Shade and brightness do not matter: only whether the next module is lighter or darker.
    """
    corner, right, down = np.array(
        [[one.middle for one in (each.upper_left, each.upper_right, each.lower_left)] for each in places]
    ).transpose(1, 0, 2)[:, :, None, :]
    module = (sizes - ACROSS)[:, :, None]
    x, y = (right - corner) / module, (down - corner) / module
    # From the middles of the patterns: along the line, and across to it.
    along = (np.arange(int(sizes.max()) - 2 * ACROSS - 2) + ACROSS / 2 + 1.5)[:, None]
    beside = TIMING - ACROSS / 2
    lines = np.stack([along * ahead[:, :, None] + beside * aside[:, :, None] for ahead, aside in ((x, y), (y, x))], 2)
    where = (corner[:, :, None, None] + lines).reshape(-1, len(along), 2).astype(np.float32)
    values = cv2.remap(image, where[..., 0], where[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    steps = np.diff(values.astype(np.float64), axis=1).reshape(*sizes.shape, 2, len(along) - 1)
    number = np.arange(len(along) - 1)
    steps = steps * (number < (sizes - 2 * ACROSS - 3)[:, :, None])[:, :, None]
    lighter = 1 - 2 * (number % 2)
    return np.asarray((steps * lighter).sum(axis=(2, 3)) / np.maximum(1.0, np.abs(steps).sum(axis=(2, 3))))


def homography_without_tilt(triple: Triple, dimension: int) -> NDArray[np.float64]:
    """Maps modules to pixels by the middles of the three patterns alone."""
    middles = np.array([[3.5, 3.5], [dimension - 3.5, 3.5], [3.5, dimension - 3.5]], np.float32)
    seen = np.array([one.middle for one in (triple.upper_left, triple.upper_right, triple.lower_left)], np.float32)
    return np.vstack([cv2.getAffineTransform(middles, seen), [0, 0, 1]])


def fronts(image: Image, candidate: Candidate) -> Iterator[Image]:
    """Views of it from the front, with its three patterns drawn in: they are all that is known of a code."""
    tilted = homography(candidate.triple, candidate.dimension)
    flat = homography_without_tilt(candidate.triple, candidate.dimension)
    for mapping in (tilted, flat):
        if mapping is not None:
            clear = sharper(front(image, mapping, candidate.dimension))
            yield with_patterns(clear)
            yield with_patterns(level(clear))


def placed(seen: Stage, triple: Triple, pixels: int) -> Stage:
    """What was read in such a view, with the corners that the code has in the image."""
    return Stage(tuple(Found(code.text, outline(triple)) for code in seen.found), None, pixels)


def outline(triple: Triple) -> Corners:
    """The corners of a code, in whole pixels."""
    return tuple((round(x), round(y)) for x, y in triple.outline)


def front(image: Image, mapping: NDArray[np.float64], dimension: int) -> Image:
    """A code from the front, with its quiet zone, all modules of one size."""
    side = (dimension + 2 * QUIET) * MODULE_PX
    scaled = mapping @ np.array([[1 / MODULE_PX, 0, -QUIET], [0, 1 / MODULE_PX, -QUIET], [0, 0, 1]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    straight = cv2.warpPerspective(image, scaled, (side, side), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(straight, np.uint8)


def with_patterns(straight: Image) -> Image:
    """The view with its three patterns as they were printed."""
    low, high = np.percentile(straight[::4, ::4], (5, 90))
    drawn = straight.copy()
    end = straight.shape[0] / MODULE_PX - QUIET - ACROSS / 2
    for x, y in ((QUIET + ACROSS / 2,) * 2, (end, QUIET + ACROSS / 2), (QUIET + ACROSS / 2, end)):
        for reach, ink in ((4.5, high), (3.5, low), (2.5, high), (1.5, low)):
            first, last = ([round((at + sign * reach) * MODULE_PX) for at in (x, y)] for sign in (-1, 1))
            drawn[first[1] : last[1], first[0] : last[0]] = ink
    return drawn


def sharper(straight: Image) -> Image:
    """Edges as clear as they were printed."""
    return unsharp(unsharp(straight, MODULE_PX * 0.8), MODULE_PX * 0.5)


def level(straight: Image) -> Image:
    """Each pixel black or white by comparison with those around it: for shade and folds."""
    soft, around = blurred(straight, 1.5), (8 * MODULE_PX) | 1
    return np.asarray(
        cv2.adaptiveThreshold(soft, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, around, 0), np.uint8
    )
