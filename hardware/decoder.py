"""Decodes QR codes in images with a cascade of stages.

Every frame goes through zxing-cpp. If that finds nothing and something has moved recently, one further stage is tried,
a different one each frame: a guest holds a phone for many frames, so spreading the expensive stages over them keeps
each frame cheap. A still image goes through all stages at once.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import zxingcpp
from pyzbar import pyzbar

from hardware.motion import MotionDetector
from hardware.pixels import Image, grey, load

Enhance = Callable[[Image], Image]

# A decoder that looks for all symbologies reports false codes.
ONLY_QR = zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode)

FIRST_STAGE = "plain"
LAST_STAGE = "pyzbar"

# Enlarging beyond this many pixels takes seconds and does not help.
LARGEST_ENLARGED = 4_000_000
# Margin around a code that was located but not read, because its corners are estimates.
MARGIN = 0.35


@dataclass(frozen=True, slots=True)
class Decoded:
    """The result for one image: its codes, the stage that read them, and whether a code was seen but not read."""

    codes: tuple[str, ...]
    stage: str
    located: bool

    @property
    def glimpsed(self) -> bool:
        """Whether a code is visible but not readable, so that the guest should hold still."""
        return self.located and not self.codes


Area = tuple[slice, slice]


def enlarge(image: Image) -> Image:
    """Doubles the size, unless the image is large already."""
    if image.size * 4 > LARGEST_ENLARGED:
        return image
    return np.asarray(cv2.resize(image, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)


def unsharp(image: Image, sigma: float) -> Image:
    """Sharpens edges threefold, relative to a blur of the given width."""
    blurred = cv2.GaussianBlur(image, (0, 0), sigma)
    return np.asarray(cv2.addWeighted(image, 3.0, blurred, -2.0, 0), dtype=np.uint8)


def sharpened(image: Image) -> Image:
    """For codes that are small or out of focus."""
    return unsharp(enlarge(image), 2.5)


def smoothed(image: Image) -> Image:
    """For grain and the pixel grid of another screen."""
    return unsharp(enlarge(np.asarray(cv2.GaussianBlur(image, (0, 0), 1), dtype=np.uint8)), 4)


def stretched(image: Image) -> Image:
    """For dim and washed-out codes: the 1st to the 99th percentile becomes black to white."""
    low, high = np.percentile(image, (1, 99))
    scale = 255 / max(1.0, float(high - low))
    return enlarge(np.asarray(cv2.convertScaleAbs(np.maximum(image, low) - low, alpha=scale), dtype=np.uint8))


ENHANCEMENTS: tuple[tuple[str, Enhance], ...] = (
    ("sharpened", sharpened),
    ("smoothed", smoothed),
    ("stretched", stretched),
)


def distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Each non-empty text once, in order."""
    return tuple(dict.fromkeys(text for text in texts if text))


def read_zxing(image: Image) -> tuple[tuple[str, ...], Area | None]:
    """The codes zxing-cpp reads, and the area of one that it located but could not read."""
    found = zxingcpp.read_barcodes(image, formats=ONLY_QR, text_mode=zxingcpp.TextMode.Plain, return_errors=True)
    failed = next((code for code in found if not code.valid), None)
    where = area_of(failed.position, image) if failed else None
    return distinct(code.text for code in found if code.valid), where


def read_pyzbar(image: Image) -> tuple[str, ...]:
    """The QR codes zbar reads."""
    found = pyzbar.decode(image, symbols=[pyzbar.ZBarSymbol.QRCODE])
    return distinct(code.data.decode("utf-8", "replace") for code in found)


def area_of(position: zxingcpp.Position, image: Image) -> Area:
    """The area around a located code, with a margin, clipped to the image."""
    corners = (position.top_left, position.top_right, position.bottom_right, position.bottom_left)
    columns, rows = [corner.x for corner in corners], [corner.y for corner in corners]
    return span(rows, image.shape[0]), span(columns, image.shape[1])


def span(ends: list[int], limit: int) -> slice:
    """The range of values with a margin, clipped to 0..limit."""
    low, high = min(ends), max(ends)
    room = round((high - low) * MARGIN) + 8
    return slice(max(0, low - room), min(limit, high + room))


def enhanced(image: Image, stage: str, enhance: Enhance) -> Decoded:
    """One enhancement, then zxing-cpp."""
    codes, where = read_zxing(enhance(image))
    return Decoded(codes, stage, where is not None)


def fallback(image: Image) -> Decoded:
    """Reads with the second decoder, for the few codes that only it can read."""
    return Decoded(read_pyzbar(image), LAST_STAGE, False)


class Decoder:
    """Decodes the frames of one camera in order; remembers motion and which stage is next."""

    def __init__(self) -> None:
        self._motion = MotionDetector()
        self._stage_index = 0

    def frame(self, pixels: Image) -> Decoded:
        """Decodes one frame with at most one enhancement, so that it stays cheap."""
        image = grey(pixels)
        moved = self._motion.recent(image)
        codes, where = read_zxing(image)
        if codes or not moved:
            return Decoded(codes, FIRST_STAGE, where is not None)
        further = self._next_stage(image[where] if where else image)
        return Decoded(further.codes, further.stage, further.located or where is not None)

    def _next_stage(self, image: Image) -> Decoded:
        last = self._stage_index == len(ENHANCEMENTS)
        outcome = fallback(image) if last else enhanced(image, *ENHANCEMENTS[self._stage_index])
        if not outcome.codes:
            # A stage that has just read a code is used again: the next frame shows the same phone in the same light.
            self._stage_index = 0 if last else self._stage_index + 1
        return outcome


def stages(image: Image) -> Iterator[Decoded]:
    """Runs every stage on one image, cheapest first, on the area of a located code before the whole."""
    codes, where = read_zxing(image)
    yield Decoded(codes, FIRST_STAGE, where is not None)
    for part in [image[where], image] if where else [image]:
        for stage, enhance in ENHANCEMENTS:
            yield enhanced(part, stage, enhance)
    yield fallback(image)


def decode_still(pixels: Image) -> Decoded:
    """Runs all stages on one image until one reads a code."""
    located, stage = False, FIRST_STAGE
    for outcome in stages(grey(pixels)):
        located, stage = located or outcome.located, outcome.stage
        if outcome.codes:
            return Decoded(outcome.codes, stage, located)
    return Decoded((), stage, located)


def decode_image(path: Path) -> Decoded:
    """The codes in an image file. Raises DeviceError if it cannot be read."""
    return decode_still(load(path))
