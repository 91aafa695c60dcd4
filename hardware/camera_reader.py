"""A code reader made of a camera and a decoder."""

from collections import deque
from collections.abc import Callable
from typing import Protocol

from hardware.camera import Frame
from hardware.decoder import Decoder
from hardware.ports import MonotonicNs, Reading

# A code in front of the lens is seen thirty times a second; four times is enough. The gate's lane decides whether
# that is one guest or two. A different code never waits.
SAME_CODE_EVERY_NS = 250_000_000


class FrameSource(Protocol):
    """A camera or a recording."""

    @property
    def name(self) -> str: ...

    @property
    def ended(self) -> bool: ...

    def newest(self, timeout_s: float) -> Frame | None: ...

    def close(self) -> None: ...


def ignore_glimpse() -> None:
    """Does nothing."""


class CameraReader:
    """A CodeReader over an open frame source. `on_glimpse` is called for codes seen but not readable yet."""

    def __init__(
        self,
        source: FrameSource,
        decoder: Decoder,
        monotonic_ns: MonotonicNs,
        on_glimpse: Callable[[], None] = ignore_glimpse,
    ) -> None:
        self._source = source
        self._decoder = decoder
        self._monotonic_ns = monotonic_ns
        self._on_glimpse = on_glimpse
        self._delivered: dict[str, int] = {}
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

    def close(self) -> None:
        self._source.close()
        self._pending.clear()

    def _look_at(self, frame: Frame) -> None:
        decoded = self._decoder.frame(frame.pixels)
        if decoded.glimpsed:
            self._on_glimpse()
        for text in decoded.codes:
            if self._due(text, frame.at_monotonic_ns):
                self._pending.append(Reading(text, frame.at_monotonic_ns, self.name))

    def _due(self, text: str, now: int) -> bool:
        self._delivered = {seen: at for seen, at in self._delivered.items() if now - at < SAME_CODE_EVERY_NS}
        return self._delivered.setdefault(text, now) == now
