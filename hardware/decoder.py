"""Pixels to codes: the cascade lives here and nowhere else.

Every frame goes through zxing-cpp, restricted to QR. Where that finds nothing and something moved in front of the
lens lately, one further stage is tried, another one each frame: a guest holds a phone for many frames, so spreading
the dear stages over them costs little time a frame and loses nobody. A still picture gets all stages at once.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import zxingcpp
from pyzbar import pyzbar

from hardware.movement import Movement
from hardware.pixels import Picture, grey, load

Enhance = Callable[[Picture], Picture]

# Decoders left to look for everything report phantoms of other symbologies.
ONLY_QR = zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode)

FIRST_STAGE = "plain"
LAST_STAGE = "pyzbar"

# Enlarging beyond this many pixels costs seconds and shows a decoder nothing new.
LARGEST_ENLARGED = 4_000_000
# Room left around a code that was located but not read: its corners are estimates.
MARGIN = 0.35


@dataclass(frozen=True, slots=True)
class Decoded:
    """What one picture gave: its codes, the stage that read them, and whether a code was seen but not read."""

    codes: tuple[str, ...]
    stage: str
    located: bool

    @property
    def glimpsed(self) -> bool:
        """A code is there and cannot be read yet: time to tell the guest to hold still."""
        return self.located and not self.codes


Area = tuple[slice, slice]


def enlarge(picture: Picture) -> Picture:
    """Twice the size, unless the picture is large already."""
    if picture.size * 4 > LARGEST_ENLARGED:
        return picture
    return np.asarray(cv2.resize(picture, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)


def unsharp(picture: Picture, sigma: float) -> Picture:
    """Edges raised threefold over a blur of the given width."""
    blurred = cv2.GaussianBlur(picture, (0, 0), sigma)
    return np.asarray(cv2.addWeighted(picture, 3.0, blurred, -2.0, 0), dtype=np.uint8)


def sharpened(picture: Picture) -> Picture:
    """For codes that are small or out of focus."""
    return unsharp(enlarge(picture), 2.5)


def smoothed(picture: Picture) -> Picture:
    """For grain and the pixel grid of another screen."""
    return unsharp(enlarge(np.asarray(cv2.GaussianBlur(picture, (0, 0), 1), dtype=np.uint8)), 4)


def stretched(picture: Picture) -> Picture:
    """For dim and washed-out codes: the 1st to the 99th percentile becomes black to white."""
    low, high = np.percentile(picture, (1, 99))
    scale = 255 / max(1.0, float(high - low))
    return enlarge(np.asarray(cv2.convertScaleAbs(np.maximum(picture, low) - low, alpha=scale), dtype=np.uint8))


ENHANCEMENTS: tuple[tuple[str, Enhance], ...] = (
    ("sharpened", sharpened),
    ("smoothed", smoothed),
    ("stretched", stretched),
)


def distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Each text once, in the order found; empty codes say nothing."""
    return tuple(dict.fromkeys(text for text in texts if text))


def read_zxing(picture: Picture) -> tuple[tuple[str, ...], Area | None]:
    """The codes that zxing-cpp reads, and where it saw one that it could not read."""
    found = zxingcpp.read_barcodes(picture, formats=ONLY_QR, text_mode=zxingcpp.TextMode.Plain, return_errors=True)
    failed = next((code for code in found if not code.valid), None)
    where = area_of(failed.position, picture) if failed else None
    return distinct(code.text for code in found if code.valid), where


def read_pyzbar(picture: Picture) -> tuple[str, ...]:
    """The codes that zbar reads, QR only as well."""
    found = pyzbar.decode(picture, symbols=[pyzbar.ZBarSymbol.QRCODE])
    return distinct(code.data.decode("utf-8", "replace") for code in found)


def area_of(position: zxingcpp.Position, picture: Picture) -> Area:
    """The part of a picture around a located code, with a margin, cut at the picture's edges."""
    corners = (position.top_left, position.top_right, position.bottom_right, position.bottom_left)
    columns, rows = [corner.x for corner in corners], [corner.y for corner in corners]
    return span(rows, picture.shape[0]), span(columns, picture.shape[1])


def span(ends: list[int], limit: int) -> slice:
    """From the least to the greatest with a margin, inside 0..limit."""
    low, high = min(ends), max(ends)
    room = round((high - low) * MARGIN) + 8
    return slice(max(0, low - room), min(limit, high + room))


def enhanced(picture: Picture, stage: str, enhance: Enhance) -> Decoded:
    """One enhancement, then zxing-cpp."""
    codes, where = read_zxing(enhance(picture))
    return Decoded(codes, stage, where is not None)


def fallback(picture: Picture) -> Decoded:
    """The second decoder, for the few codes that only it reads."""
    return Decoded(read_pyzbar(picture), LAST_STAGE, False)


class Decoder:
    """Decodes the frames of one camera, in order: it remembers movement and whose turn it is."""

    def __init__(self) -> None:
        self._movement = Movement()
        self._turn = 0

    def frame(self, pixels: Picture) -> Decoded:
        """At most one enhancement a frame, so that a frame stays cheap."""
        picture = grey(pixels)
        moved = self._movement.lately(picture)
        codes, where = read_zxing(picture)
        if codes or not moved:
            return Decoded(codes, FIRST_STAGE, where is not None)
        further = self._next_stage(picture[where] if where else picture)
        return Decoded(further.codes, further.stage, further.located or where is not None)

    def _next_stage(self, picture: Picture) -> Decoded:
        last = self._turn == len(ENHANCEMENTS)
        outcome = fallback(picture) if last else enhanced(picture, *ENHANCEMENTS[self._turn])
        if not outcome.codes:
            # What has just read a code keeps its turn: the next frame shows the same phone in the same light.
            self._turn = 0 if last else self._turn + 1
        return outcome


def stages(picture: Picture) -> Iterator[Decoded]:
    """Every stage over one picture, cheapest first; around a located code before the whole."""
    codes, where = read_zxing(picture)
    yield Decoded(codes, FIRST_STAGE, where is not None)
    for part in [picture[where], picture] if where else [picture]:
        for stage, enhance in ENHANCEMENTS:
            yield enhanced(part, stage, enhance)
    yield fallback(picture)


def decode_still(pixels: Picture) -> Decoded:
    """All stages over one picture until one reads something."""
    located, stage = False, FIRST_STAGE
    for outcome in stages(grey(pixels)):
        located, stage = located or outcome.located, outcome.stage
        if outcome.codes:
            return Decoded(outcome.codes, stage, located)
    return Decoded((), stage, located)


def decode_picture(path: Path) -> Decoded:
    """The codes in a picture file. Raises DeviceError with words when there is no picture to read."""
    return decode_still(load(path))
