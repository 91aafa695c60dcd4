"""The live picture of a camera with the code outlined, made only while somebody looks."""

import threading
from dataclasses import dataclass

import cv2
import numpy as np

from hardware.ports import MonotonicNs, Picture
from hardware.vision.decoder import Decoded
from hardware.vision.pixels import Image, in_colour
from hardware.vision.stages import Corners

WIDTH = 480
QUALITY = 70
EVERY_NS = 100_000_000
# Whoever has not asked for so long has stopped looking.
LOOKED_AT_NS = 2_000_000_000
# An outline outlasts its frame a little, because most frames are never shown.
OUTLINED_NS = 300_000_000
READ, LOCATED = (80, 220, 60), (60, 200, 255)


@dataclass(frozen=True, slots=True)
class _Outline:
    corners: tuple[Corners, ...]
    colour: tuple[int, int, int]
    at: int


class Viewfinder:
    """The newest frame of one camera as a small JPEG, ten a second at most."""

    def __init__(self, monotonic_ns: MonotonicNs) -> None:
        self._monotonic_ns = monotonic_ns
        self._changed = threading.Condition()
        self._encoding = threading.Lock()
        self._asked_ns = -LOOKED_AT_NS
        self._number = 0
        self._pixels: Image | None = None
        self._outline: _Outline | None = None
        self._made: Picture | None = None
        self._made_ns = -EVERY_NS

    @property
    def watched(self) -> bool:
        """Whether somebody has asked for a picture lately."""
        return self._monotonic_ns() - self._asked_ns < LOOKED_AT_NS

    def show(self, pixels: Image, decoded: Decoded) -> None:
        """Takes a frame that was decoded; forgets it at once if nobody looks."""
        with self._changed:
            if not self.watched:
                self._pixels = None
                return
            self._outline = self._outline_of(decoded) or self._outline
            self._number, self._pixels = self._number + 1, pixels
            self._changed.notify_all()

    def picture(self, after: int, timeout_s: float) -> Picture | None:
        """A picture newer than number `after`; None if there is none in time."""
        with self._changed:
            self._asked_ns = self._monotonic_ns()
            self._changed.wait_for(lambda: self._pixels is not None and self._number > after, timeout_s)
            if self._pixels is None or self._number <= after:
                return None
        with self._encoding:
            return self._newest()

    def _newest(self) -> Picture | None:
        """The picture made a moment ago, or a new one: several screens cost no more than one."""
        if self._made is not None and self._monotonic_ns() - self._made_ns < EVERY_NS:
            return self._made
        with self._changed:
            number, pixels, outline = self._number, self._pixels, self._outline
        if pixels is None:
            return None
        now = self._monotonic_ns()
        fresh = outline if outline and now - outline.at < OUTLINED_NS else None
        self._made, self._made_ns = Picture(number, small(pixels, fresh)), now
        return self._made

    def _outline_of(self, decoded: Decoded) -> _Outline | None:
        if decoded.found:
            return _Outline(tuple(code.corners for code in decoded.found), READ, self._monotonic_ns())
        if decoded.located:
            return _Outline((decoded.located,), LOCATED, self._monotonic_ns())
        return None


def small(pixels: Image, outline: _Outline | None) -> bytes:
    """A small JPEG of a frame, with the outline drawn on it."""
    image = in_colour(pixels)
    scale = min(1.0, WIDTH / image.shape[1])
    shown = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    for corners in outline.corners if outline else ():
        points = np.round(np.array(corners, dtype=np.float64) * scale).astype(np.int32)
        cv2.polylines(shown, [points], True, (0, 0, 0), 7, cv2.LINE_AA)
        cv2.polylines(shown, [points], True, outline.colour if outline else READ, 4, cv2.LINE_AA)
    _, content = cv2.imencode(".jpg", shown, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    return content.tobytes()
