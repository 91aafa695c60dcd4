"""Codes seen from the front, by the squares in their corners: for those of which a decoder misses a square."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.vision.alignment import aligned, alternation, resized
from hardware.vision.companions import companions, triples_of
from hardware.vision.finders import (
    ACROSS,
    LARGEST,
    SMALLEST,
    Finder,
    Triple,
    finders,
    hidden_thirds,
    homography,
    homography_without_tilt,
    is_among,
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
MOST_WHOLE = 2
# Of so many patterns each two may belong to one code, and in so many places its small squares are looked for.
MOST_SUPPOSED, MOST_SUPPOSED_PLACES = 3, 8
# So many of them are where they should be if the code is there.
LIKELY = 0.5
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
    mapping: NDArray[np.float64] | None = None
    """How its modules lie in the image, where that is known better than from the patterns."""


def patterns(image: Image) -> list[Finder]:
    """The finder patterns of a frame's part; in a small one also those that are small, dim or out of focus."""
    if image.size >= SMALL_AREA:
        return finders(image, (WINDOW,))[:MOST_PATTERNS]
    clear = unsharp(enlarged(image, CLOSER), 1.5 * CLOSER)
    return [one.shrunk(CLOSER) for one in finders(clear, (WINDOW,))[:MOST_PATTERNS]]


def candidates(image: Image, found: list[Finder], most: int) -> Iterator[Candidate]:
    """Where codes may be by the patterns that were found, the likeliest first; then where the small squares tell."""
    beside = [(whole, companions(image, whole)) for whole in found[:MOST_WHOLE]]
    broken = (triple for whole, others in beside for triple in triples_of(whole, others))
    likely = _rated(image, [*triples(found), *hidden_thirds(found), *broken])
    yield from (candidate for candidate in likely[:most] if candidate.fit >= LEAST_TIMING)
    damaged = [(whole, other) for whole, others in beside for other in others[:1] if not is_among(other, found)]
    pairs = [*combinations(found[:MOST_SUPPOSED], 2), *damaged]
    yield from _confirmed(image, _rated(image, [triple for pair in pairs for triple in hidden_thirds(list(pair))]))


def _confirmed(image: Image, supposed: list[Candidate]) -> Iterator[Candidate]:
    """The places of codes of which two patterns are seen and nothing is left of the third, by their small squares."""
    known: list[Candidate] = []
    # No line of modules is known between the ends of a diagonal: what is told of these by their lines says little.
    for candidate in sorted(supposed, key=lambda one: one.triple.upper_left.seen)[:MOST_SUPPOSED_PLACES]:
        lies = _lies(image, candidate)
        if lies is not None:
            known.append(lies)
            if lies.fit == 1:
                break
    # Turned by a quarter, most of the squares are where they should be as well.
    yield from sorted(known, key=lambda candidate: -candidate.fit)[:2]


def _lies(image: Image, candidate: Candidate) -> Candidate | None:
    """The candidate where its small squares are, and of the size that the lines between its patterns tell.

    Small squares are nearly in the same places in codes of the next size.
    """
    triple, dimension = candidate.triple, candidate.triple.dimension
    lies = aligned(image, triple, dimension, homography_without_tilt(triple, dimension))
    if lies is None or lies.share < LIKELY:
        return None
    known = _known_lines(triple)
    sizes = {size: resized(lies.mapping, dimension, size) for size in (dimension, dimension - 4, dimension + 4)}
    best = max(sizes, key=lambda size: alternation(image, sizes[size], size, known))
    if best != dimension:
        lies = aligned(image, triple, best, sizes[best])
    return Candidate(triple, best, lies.share, lies.mapping) if lies is not None else None


def _rated(image: Image, places: list[Triple]) -> list[Candidate]:
    if not places:
        return []
    guessed = np.array([triple.dimension for triple in places])
    sizes = np.clip(guessed[:, None] + np.array([0, 4, -4]), SMALLEST, LARGEST)
    fits = timing(image, places, sizes)
    best = fits.argmax(axis=1)
    rated = [Candidate(triple, int(sizes[n, best[n]]), float(fits[n, best[n]])) for n, triple in enumerate(places)]
    return sorted(rated, key=lambda candidate: -candidate.fit)


def timing(image: Image, places: list[Triple], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """How well dark and light alternate between the patterns of each place, for each of its sizes, from -1 to 1.

    Shade and brightness do not matter: only whether the next module is lighter or darker. A line between two patterns
    that are seen says more than one that ends where a third is supposed.
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
    steps = steps * np.array([_known_lines(one) for one in places])[:, None, :, None]
    lighter = 1 - 2 * (number % 2)
    return np.asarray((steps * lighter).sum(axis=(2, 3)) / np.maximum(1.0, np.abs(steps).sum(axis=(2, 3))))


def _known_lines(triple: Triple) -> tuple[bool, bool]:
    """Whether the line to the right counts, and the one downwards: between two patterns that are seen, if any are."""
    known = (triple.upper_left.seen and triple.upper_right.seen, triple.upper_left.seen and triple.lower_left.seen)
    return known if any(known) else (True, True)


def fronts(image: Image, candidate: Candidate) -> Iterator[Image]:
    """Views of it from the front, with its three patterns drawn in: they are all that is known of a code."""
    for mapping in _mappings(image, candidate):
        straight = front(image, mapping, candidate.dimension)
        clear = sharper(straight)
        for view in (clear, level(clear), darkened(straight)):
            yield with_patterns(view)


def _mappings(image: Image, candidate: Candidate) -> Iterator[NDArray[np.float64]]:
    """How its modules may lie in the image: as the small squares say, or where these are not found, the patterns."""
    if candidate.mapping is not None:
        yield candidate.mapping
        return
    triple, dimension = candidate.triple, candidate.dimension
    tilted, flat = homography(triple, dimension), homography_without_tilt(triple, dimension)
    rough = [mapping for mapping in (tilted, flat) if mapping is not None]
    lies = (aligned(image, triple, dimension, mapping) for mapping in reversed(rough))
    yield from next(([one.mapping] for one in lies if one is not None and one.share >= LIKELY), rough)


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


def darkened(straight: Image) -> Image:
    """Each pixel as dark as the darkest beside it: for cracks, which shine, and for print that has come off."""
    return np.asarray(cv2.erode(unsharp(straight, MODULE_PX * 0.5), np.ones((3, 3), np.uint8)), np.uint8)


def level(straight: Image) -> Image:
    """Each pixel black or white by comparison with those around it: for shade and folds."""
    soft, around = blurred(straight, 1.5), (8 * MODULE_PX) | 1
    return np.asarray(
        cv2.adaptiveThreshold(soft, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, around, 0), np.uint8
    )
