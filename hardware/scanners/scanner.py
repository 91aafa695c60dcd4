"""A scanner that may be unplugged: opened again by itself, and never with half a code from before."""

import os
import select
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from hardware.bursts import KeyBursts
from hardware.ports import DeviceError, MonotonicNs, Reading, nothing

CHUNK = 4_096
PAUSE_LOOK_S = 0.1
PLUG_IN = "Plug it in again; the gate finds it by itself."


class Line(Protocol):
    """An open scanner: what to wait for, and how its bytes become text."""

    descriptor: int

    def text(self, chunk: bytes) -> str: ...


class Scanner:
    """A CodeReader over a scanner that is found again whenever it has been unplugged."""

    def __init__(
        self,
        open_line: Callable[[], Line],
        monotonic_ns: MonotonicNs,
        name: str,
        whole: Callable[[str], bool] = nothing,
    ) -> None:
        """`open_line` opens the scanner where it is now, and raises DeviceError while it is missing."""
        self.name = name
        self._open_line = open_line
        self._monotonic_ns = monotonic_ns
        self._line: Line | None = None
        self._whole = whole
        self._bursts = KeyBursts.of_scanner(whole)
        self._pending: deque[Reading] = deque()
        self._closed = False
        self._looked_ns = monotonic_ns()

    @property
    def ended(self) -> bool:
        """Only when it was closed: a scanner can always be plugged in again."""
        return self._closed

    def open(self) -> "Scanner":
        """Opens it for the first time. Raises DeviceError."""
        self._line = self._open_line()
        return self

    def next(self, timeout_s: float) -> Reading | None:
        if not self._pending and not self._closed:
            self._wait(self._line or self._open_again(), timeout_s)
        return self._pending.popleft() if self._pending else None

    def close(self) -> None:
        self._closed = True
        self._pending.clear()
        self._let_go()

    def _open_again(self) -> Line:
        self._line = line = self._open_line()
        return line

    def _wait(self, line: Line, timeout_s: float) -> None:
        self._bursts.away(self._monotonic_ns() - self._looked_ns)
        try:
            ready = select.select([line.descriptor], [], [], min(timeout_s, PAUSE_LOOK_S))[0]
            chunk = os.read(line.descriptor, CHUNK) if ready else None
        except (OSError, ValueError) as why:
            raise self._lost() from why
        self._looked_ns = now = self._monotonic_ns()
        if chunk is None:
            self._deliver(self._bursts.pause(now), now)
        elif chunk:
            for code in self._bursts.keys(line.text(chunk), now):
                self._deliver(code, now)
        else:
            raise self._lost()

    def _deliver(self, code: str | None, now: int) -> None:
        if code:
            self._pending.append(Reading(code, now, self.name))

    def _lost(self) -> DeviceError:
        self._let_go()
        return DeviceError(self.name, "The scanner is unplugged.", PLUG_IN)

    def _let_go(self) -> None:
        line, self._line = self._line, None
        # Half a code from before must not be joined to the next guest's.
        self._bursts = KeyBursts.of_scanner(self._whole)
        if line is not None:
            with suppress(OSError):
                os.close(line.descriptor)
