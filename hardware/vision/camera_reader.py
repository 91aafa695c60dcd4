"""A code reader made of a camera and a decoder."""

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from hardware.ports import DeviceError, Hint, MonotonicNs, Picture, Reading, anything, ignore_hint
from hardware.vision.camera import Frame
from hardware.vision.decoder import Decoder
from hardware.vision.pixels import DamagedFrame
from hardware.vision.region import Region
from hardware.vision.sightings import LooksRight, Sightings
from hardware.vision.viewfinder import Viewfinder
from hardware.vision.webcams import Torch


class FrameSource(Protocol):
    """A camera or a recording."""

    @property
    def name(self) -> str: ...

    @property
    def ended(self) -> bool: ...

    def newest(self, timeout_s: float) -> Frame | None: ...

    def close(self) -> None: ...


class CameraReader:
    """A CodeReader over an open frame source.

    `on_hint` is told what a guest can do about a code that cannot be read yet; `wanted` tells tickets from other codes.
    """

    def __init__(
        self,
        source: FrameSource,
        decoder: Decoder,
        monotonic_ns: MonotonicNs,
        *,
        on_hint: Callable[[Hint], None] = ignore_hint,
        wanted: LooksRight = anything,
        torch: Torch | None = None,
        region: Region | None = None,
    ) -> None:
        self._source = source
        self._decoder = decoder
        self._monotonic_ns = monotonic_ns
        self._on_hint = on_hint
        self._viewfinder = Viewfinder(monotonic_ns)
        self._sightings = Sightings(wanted)
        self._torch = torch
        self._region = region
        self._pending: deque[Reading] = deque()

    @property
    def name(self) -> str:
        return self._source.name

    @property
    def ended(self) -> bool:
        return self._source.ended and not self._pending

    def next(self, timeout_s: float) -> Reading | None:
        deadline = self._monotonic_ns() + round(timeout_s * 1e9)
        while not self._pending:
            frame = self._source.newest(max(0, deadline - self._monotonic_ns()) / 1e9)
            if frame is None:
                return None
            self._look_at(frame)
            if self._monotonic_ns() >= deadline:
                break
        return self._pending.popleft() if self._pending else None

    def picture(self, after: int, timeout_s: float) -> Picture | None:
        """The live picture, for whoever looks at the gate's screen."""
        return self._viewfinder.picture(after, timeout_s)

    def close(self) -> None:
        self._source.close()
        self._pending.clear()
        torch, self._torch = self._torch, None
        if torch is not None:
            with suppress(DeviceError):
                torch.switch(on=False)

    def _look_at(self, frame: Frame) -> None:
        try:
            pixels = frame.pixels if self._region is None else self._region.of(frame.pixels)
            decoded = self._decoder.frame(pixels)
        except DamagedFrame:
            return
        text, several = self._sightings.take(decoded.found, frame.at_monotonic_ns, glimpsed=decoded.glimpsed)
        if text is not None:
            self._pending.append(Reading(text, frame.at_monotonic_ns, self.name))
        hint = Hint.ONE_AT_A_TIME if several else decoded.hint
        if hint is not None:
            self._on_hint(hint)
        self._viewfinder.show(pixels, decoded)
