"""The stages that read one grey image: two decoders, and what is done to an image that they could not read."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import cv2
import numpy as np
import zxingcpp
from pyzbar import pyzbar

from hardware.vision.pixels import Image, shrunk

Enhance = Callable[[Image], Image]
Corners = tuple[tuple[int, int], ...]
"""Four points, clockwise as printed, in pixels of the frame."""
Area = tuple[slice, slice]

# A decoder that looks for all symbologies reports false codes; micro and rectangular QR codes are the worst of them,
# because a few squares of a room or of a larger code pass their weak checks.
ONLY_QR = zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCodeModel2)

# Bounds the time of one frame: beyond this many pixels a stage takes tens of milliseconds and reads little more.
MOST_PIXELS = 1_000_000
# zbar takes much longer for a pixel than an enhancement and zxing-cpp together.
MOST_PIXELS_ZBAR = 300_000
ZBAR_COSTS = 5
# Less is not worth its time.
LEAST_ENLARGEMENT = 1.2
# In pixels of the frame: some modules of a code that is barely large enough.
NEIGHBOURHOOD = 10
# Margin around a code that was located but not read, because its corners are estimates.
MARGIN = 0.35


@dataclass(frozen=True, slots=True)
class Found:
    """A code that was read, and where it is in the frame."""

    text: str
    corners: Corners

    @property
    def size(self) -> float:
        """The area that it covers."""
        return float(cv2.contourArea(np.array(self.corners, dtype=np.float32)))


@dataclass(frozen=True, slots=True)
class Stage:
    """The result of one stage: what it read, one code that it located without reading it, and how much it looked at."""

    found: tuple[Found, ...] = ()
    located: Corners | None = None
    pixels: int = 0
    failed: tuple[Corners, ...] = ()
    """All that were located and not read."""

    def moved(self, scale: float, left: int, top: int) -> "Stage":
        """The same in the pixels of the frame that the image was cut from and enlarged by `scale`."""
        return Stage(
            tuple(Found(code.text, moved(code.corners, scale, left, top)) for code in self.found),
            moved(self.located, scale, left, top) if self.located else None,
            self.pixels,
            tuple(moved(corners, scale, left, top) for corners in self.failed),
        )


def moved(corners: Corners, scale: float, left: int, top: int) -> Corners:
    """Corners in the pixels of the frame."""
    return tuple((round(x / scale) + left, round(y / scale) + top) for x, y in corners)


def enlargement(image: Image, most: float) -> float:
    """How much larger an image is made: `most`, or as much as the bound of a frame's time allows."""
    scale = min(most, (MOST_PIXELS / image.size) ** 0.5)
    return scale if scale >= LEAST_ENLARGEMENT else 1.0


def enlarged(image: Image, scale: float) -> Image:
    """The image in another size."""
    if scale == 1:
        return image
    return np.asarray(cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)


def blurred(image: Image, sigma: float) -> Image:
    """The image through a soft lens."""
    return np.asarray(cv2.GaussianBlur(image, (0, 0), sigma), dtype=np.uint8)


def unsharp(image: Image, sigma: float) -> Image:
    """Sharpens edges threefold, relative to a blur of the given width."""
    return np.asarray(cv2.addWeighted(image, 3.0, blurred(image, sigma), -2.0, 0), dtype=np.uint8)


def sharpened(image: Image) -> Image:
    """For codes that are small or out of focus."""
    scale = enlargement(image, 2)
    return unsharp(enlarged(image, scale), 1.25 * scale)


def smoothed(image: Image) -> Image:
    """For grain, cracks and the pixel grid of another screen."""
    scale = enlargement(image, 3)
    return unsharp(enlarged(blurred(image, 0.7), scale), 1.7 * scale)


def stretched(image: Image) -> Image:
    """For dim and washed-out codes: the 1st to the 99th percentile becomes black to white."""
    low, high = np.percentile(image[::2, ::2], (1, 99))
    gain = 255 / max(1.0, float(high - low))
    clear = np.asarray(cv2.convertScaleAbs(np.maximum(image, low) - low, alpha=gain), dtype=np.uint8)
    return enlarged(clear, enlargement(clear, 2))


def levelled(image: Image) -> Image:
    """For glare and shade: every pixel is black or white by comparison with those around it."""
    scale = enlargement(image, 3)
    soft = blurred(enlarged(image, scale), 0.5 * scale)
    around = round(NEIGHBOURHOOD * scale) | 1
    level = cv2.adaptiveThreshold(soft, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, around, 0)
    return np.asarray(level, dtype=np.uint8)


ENHANCEMENTS: tuple[tuple[str, Enhance], ...] = (
    ("sharpened", sharpened),
    ("levelled", levelled),
    ("smoothed", smoothed),
    ("stretched", stretched),
)


def read_zxing(image: Image) -> Stage:
    """What zxing-cpp reads, and the first code that it located but could not read."""
    results = zxingcpp.read_barcodes(image, formats=ONLY_QR, text_mode=zxingcpp.TextMode.Plain, return_errors=True)
    found = [Found(result.text, corners_of(result.position)) for result in results if result.valid]
    failed = tuple(corners_of(result.position) for result in results if not result.valid)
    return Stage(distinct(found), next(iter(failed), None), image.size, failed)


def read_zbar(image: Image) -> Stage:
    """What zbar reads."""
    results = pyzbar.decode(image, symbols=[pyzbar.ZBarSymbol.QRCODE])
    found = [
        Found(result.data.decode("utf-8", "replace"), tuple((point.x, point.y) for point in result.polygon[:4]))
        for result in results
        if len(result.polygon) >= 4
    ]
    return Stage(distinct(found), None, image.size * ZBAR_COSTS)


def enhanced(image: Image, area: Area | None, enhance: Enhance) -> Stage:
    """One enhancement of the image, or of an area of it, then zxing-cpp."""
    part = image[area] if area else image
    better = enhance(part)
    return read_zxing(better).moved(better.shape[1] / part.shape[1], *origin(area))


def fallback(image: Image, area: Area | None) -> Stage:
    """Reads with the second decoder, for the few codes that only it can read."""
    part = image[area] if area else image
    scale = min(1.0, (MOST_PIXELS_ZBAR / part.size) ** 0.5)
    return read_zbar(np.ascontiguousarray(shrunk(part, scale))).moved(scale, *origin(area))


def distinct(found: Iterable[Found]) -> tuple[Found, ...]:
    """Each non-empty text once, in order."""
    return tuple({code.text: code for code in reversed(list(found)) if code.text}.values())[::-1]


def corners_of(position: zxingcpp.Position) -> Corners:
    """The corners that zxing-cpp reports."""
    points = (position.top_left, position.top_right, position.bottom_right, position.bottom_left)
    return tuple((point.x, point.y) for point in points)


def area_around(corners: Corners, image: Image) -> Area:
    """The area around a located code, with a margin, clipped to the image."""
    columns, rows = zip(*corners, strict=True)
    return _span(rows, image.shape[0]), _span(columns, image.shape[1])


def area_of(corners: Corners, image: Image) -> Area:
    """The area of a located code alone, clipped to the image."""
    columns, rows = zip(*corners, strict=True)
    return _span(rows, image.shape[0], margin=-0.05), _span(columns, image.shape[1], margin=-0.05)


def _span(ends: tuple[int, ...], limit: int, margin: float = MARGIN) -> slice:
    """The range of values with a margin, clipped to the image and never empty, wherever a decoder saw the corners."""
    low, high = min(ends), max(ends)
    room = round((high - low) * margin) + (8 if margin > 0 else 0)
    first = min(max(0, low - room), limit - 1)
    return slice(first, min(limit, max(high + room, first + 1)))


def origin(area: Area | None) -> tuple[int, int]:
    """Where an area begins: left and top."""
    return (area[1].start, area[0].start) if area else (0, 0)
