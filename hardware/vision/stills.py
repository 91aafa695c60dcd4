"""Reads a picture that stands still: every stage, at several sizes, and codes straightened one by one.

A camera has the next frame; a picture has only this one. So more is tried, in bounded time, and all codes are listed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.vision.decoder import FIRST_STAGE, LAST_STAGE, Decoded
from hardware.vision.finders import Triple, finders, homography, homography_without_tilt, nearest_dimension, triples
from hardware.vision.fronts import (
    MODULE_PX,
    QUIET,
    STRAIGHTENED,
    candidates,
    front,
    fronts,
    level,
    placed,
    sharper,
)
from hardware.vision.pixels import Image, colours, grey, load, shrunk
from hardware.vision.stages import (
    ENHANCEMENTS,
    MOST_PIXELS,
    Area,
    Corners,
    Found,
    Stage,
    area_around,
    enhanced,
    fallback,
    levelled,
    read_zxing,
)

# What all stages together may look at, in pixels; about a second of a slow core.
BUDGET = 40_000_000
HALVES = (0.5, 0.25)
FEWEST_PIXELS = 90_000
MOST_TRIPLES, MOST_HIDDEN = 6, 12
# How much of a picture an end of it is.
END = 0.6
# In pixels: narrower than the shade of a railing.
SHADE_WINDOWS = (21, 43)
BENDS = (0.6, 0.95, 1.25)
FLATTENED, LEVELLED, UNBENT, COLOURED = "flattened", "levelled", "unbent", "coloured"


@dataclass
class _Reading:
    """What was read of a picture so far, and how much was looked at for it."""

    image: Image
    colours: tuple[Image, ...] = ()
    spent: int = 0
    found: dict[str, Found] = field(default_factory=dict)
    stage: str = FIRST_STAGE
    failed: list[Corners] = field(default_factory=list)
    _squares: list[NDArray[np.float64]] | None = None

    def take(self, name: str, stage: Stage) -> None:
        """Adds the result of a stage."""
        self.spent += stage.pixels
        fresh = [code for code in stage.found if code.text not in self.found]
        if fresh and not self.found:
            self.stage = name
        self.found |= {code.text: code for code in fresh}
        self.failed += stage.failed

    @property
    def over(self) -> bool:
        """Whether enough was looked at."""
        return self.spent > BUDGET

    def read(self, middle: NDArray[np.float64]) -> bool:
        """Whether a point lies in a code that was read."""
        point = (float(middle[0]), float(middle[1]))
        return any(
            cv2.pointPolygonTest(np.array(code.corners, np.float32), point, False) >= 0 for code in self.found.values()
        )

    @property
    def complete(self) -> bool:
        """Whether something was read, and nothing else in the picture looks like a code, in the light or in shade."""
        if not self.found or self.unread():
            return False
        if self._squares is None:
            seen, scale = _bounded(self.image)
            views = ((seen, ()), (seen, SHADE_WINDOWS), (flattened(seen), ()))
            self._squares = [one.middle / scale for view, windows in views for one in finders(view, windows)]
        return all(self.read(middle) for middle in self._squares)

    def unread(self) -> list[Corners]:
        """Codes that were located by a decoder and not read by any, each once."""
        left: list[Corners] = []
        for corners in self.failed:
            middle = np.array(corners, np.float64).mean(axis=0)
            size = np.ptp(np.array(corners), axis=0).max()
            known = any(np.linalg.norm(np.array(other).mean(axis=0) - middle) < size / 3 for other in left)
            if not known and size > 0 and not self.read(middle):
                left.append(corners)
        return left


def decode_image(path: Path) -> Decoded:
    """The codes in an image file. Raises DeviceError if it cannot be read."""
    return decode_still(load(path))


def decode_still(pixels: Image) -> Decoded:
    """All codes of one picture: stage after stage until everything that looks like a code is read, or time is over."""
    image = grey(pixels)
    reading = _Reading(image, colours(pixels))
    for name, stage in _stages(reading):
        reading.take(name, stage)
        if reading.over:
            break
    located = next(iter(reading.unread()), None)
    name = reading.stage if reading.found or not reading.failed else LAST_STAGE
    return Decoded(tuple(reading.found.values()), name, located)


def _stages(reading: _Reading) -> Iterator[tuple[str, Stage]]:
    image = reading.image
    yield FIRST_STAGE, read_zxing(image)
    yield from _whole(reading)
    yield from _located(reading)
    yield from _straightened(reading)
    if not reading.complete:
        yield from _hidden(reading)
    if not reading.found:
        for colour in reading.colours:
            yield COLOURED, read_zxing(colour)
        yield LAST_STAGE, fallback(image, None)


def _is_read(reading: _Reading, triple: Triple, scale: float) -> bool:
    middle = (triple.upper_right.middle + triple.lower_left.middle) / 2 / scale
    return reading.read(middle)


def _whole(reading: _Reading) -> Iterator[tuple[str, Stage]]:
    """The enhancements of the camera, at the size of the picture and, until it is complete, smaller.

    Once all are tried even if a code was read: one in hard shade beside it has no patterns that are seen without them.
    """
    image = reading.image
    for scale in (1.0, *HALVES):
        part = shrunk(image, scale)
        if part.size < FEWEST_PIXELS and scale < 1:
            return
        if scale < 1:
            yield FIRST_STAGE, _placed(read_zxing(part), scale)
        # Large pictures are looked at in the sizes in which their codes are neither tiny nor out of focus.
        if part.size > 4 * MOST_PIXELS:
            continue
        for name, enhance in (*ENHANCEMENTS, (FLATTENED, flattened)):
            yield name, _placed(enhanced(part, None, enhance), scale)
        for half in _halves(part):
            yield LEVELLED, _placed(enhanced(part, half, levelled), scale)
        if reading.complete:
            return


def _halves(image: Image) -> Iterator[Area]:
    """Its two ends, with what is in the middle in both: smaller pictures may be enlarged more in the same time."""
    height, width = image.shape
    for start in (0.0, 1 - END):
        rows, columns = ((start, start + END), (0, 1)) if height > width else ((0, 1), (start, start + END))
        yield _share(rows, height), _share(columns, width)


def _share(ends: tuple[float, float], pixels: int) -> slice:
    return slice(round(ends[0] * pixels), round(ends[1] * pixels))


def _located(reading: _Reading) -> Iterator[tuple[str, Stage]]:
    """Each code that was located and not read, alone: straightened by its corners, then enhanced."""
    for corners in reading.unread()[:MOST_TRIPLES]:
        area = area_around(corners, reading.image)
        for name, enhance in (*ENHANCEMENTS, (FLATTENED, flattened)):
            yield name, enhanced(reading.image, area, enhance)
            if reading.read(np.array(corners, np.float64).mean(axis=0)):
                break


def _straightened(reading: _Reading) -> Iterator[tuple[str, Stage]]:
    """Codes whose three patterns are found, seen from the front, and then as if they were not bent."""
    for image, scale in _views(reading.image):
        for triple in triples(finders(image))[:MOST_TRIPLES]:
            if reading.over:
                return
            if _is_read(reading, triple, scale):
                continue
            for name, view in _fronts(image, triple):
                stage = _of_view(view, triple, scale)
                yield name, stage
                if stage.found:
                    break


def _fronts(image: Image, triple: Triple) -> Iterator[tuple[str, Image]]:
    guess = triple.dimension
    for dimension in dict.fromkeys(nearest_dimension(guess + more) for more in (0, 4, -4)):
        mapping = homography(triple, dimension)
        if mapping is None:
            return
        straight = front(image, mapping, dimension)
        for enhance in (_as_it_is, level, sharper):
            yield STRAIGHTENED, enhance(straight)
        if dimension == guess:
            flat = front(image, homography_without_tilt(triple, dimension), dimension)
            yield STRAIGHTENED, flat
            for bend in BENDS:
                for axis in (0, 1):
                    yield UNBENT, _unbent(flat, bend, axis)


def _unbent(straight: Image, bend: float, axis: int) -> Image:
    """A code as it was before it was put around a bottle: its edges are stretched again."""
    side = straight.shape[0]
    inner = 1 - 2 * QUIET * MODULE_PX / side
    flat = np.linspace(-1, 1, side) / inner
    seen = np.sin(np.clip(flat * bend, -1.5, 1.5)) / np.sin(bend) * inner
    pixels = ((seen + 1) / 2 * (side - 1)).astype(np.float32)
    even = np.arange(side, dtype=np.float32)
    columns, rows = np.meshgrid(pixels, even) if axis == 0 else np.meshgrid(even, pixels)
    return np.asarray(cv2.remap(straight, columns, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def _hidden(reading: _Reading) -> Iterator[tuple[str, Stage]]:
    """Two of the three patterns are seen: the third is where a reflection or a fold hides it."""
    for image, scale in _views(reading.image):
        if reading.complete or reading.over:
            return
        for candidate in candidates(image, finders(image), MOST_HIDDEN):
            if _is_read(reading, candidate.triple, scale):
                continue
            for view in fronts(image, candidate):
                stage = _of_view(view, candidate.triple, scale)
                yield STRAIGHTENED, stage
                if stage.found or reading.over:
                    break


def _views(image: Image) -> Iterator[tuple[Image, float]]:
    """The picture in the sizes in which patterns are looked for, in light and in dark print."""
    for scale in dict.fromkeys((_scale_to(image, MOST_PIXELS), _scale_to(image, 4 * MOST_PIXELS))):
        seen = shrunk(image, scale)
        for view in (seen, flattened(seen), 255 - seen):
            yield np.asarray(view, np.uint8), scale


def _bounded(image: Image) -> tuple[Image, float]:
    scale = _scale_to(image, MOST_PIXELS)
    return shrunk(image, scale), scale


def _scale_to(image: Image, pixels: int) -> float:
    return min(1.0, float((pixels / image.size) ** 0.5))


def _placed(stage: Stage, scale: float) -> Stage:
    return stage if scale == 1 else stage.moved(scale, 0, 0)


def _of_view(view: Image, triple: Triple, scale: float) -> Stage:
    """What is read in a straightened view, with the corners that the code has in the picture."""
    seen = read_zxing(view)
    return placed(seen, triple, seen.pixels).moved(scale, 0, 0)


def _as_it_is(image: Image) -> Image:
    return image


def flattened(image: Image) -> Image:
    """For shadows and reflections: everything relative to the paper around it, as bright as the lightest nearby."""
    small = shrunk(image, 0.25)
    size = max(5, round(max(small.shape) / 24)) | 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
    light = cv2.GaussianBlur(cv2.dilate(small, kernel), (0, 0), size / 3)
    dark = cv2.GaussianBlur(cv2.erode(small, kernel), (0, 0), size / 3)
    shape = (image.shape[1], image.shape[0])
    top = cv2.resize(light, shape, interpolation=cv2.INTER_LINEAR).astype(np.float32)
    bottom = cv2.resize(dark, shape, interpolation=cv2.INTER_LINEAR).astype(np.float32)
    spread = np.maximum(top - bottom, 12)
    return np.asarray(np.clip((image - bottom) / spread * 255, 0, 255), np.uint8)
