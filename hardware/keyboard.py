"""Reads codes that arrive as text: from a keyboard, a wedge scanner, a pipe or a serial line."""

import codecs
import os
import select
import termios
from collections import deque
from contextlib import suppress

from hardware.bursts import KeyBursts
from hardware.ports import DeviceError, MonotonicNs, Reading

CHUNK = 4_096
PAUSE_LOOK_S = 0.1
END_OF_INPUT = "\x04"


class KeyboardReader:
    """A CodeReader over a file descriptor. A terminal does not echo, so codes stay off the screen."""

    def __init__(self, descriptor: int, monotonic_ns: MonotonicNs, name: str = "keyboard") -> None:
        self.name = name
        self._descriptor = descriptor
        self._monotonic_ns = monotonic_ns
        self._terminal = False
        self._original_settings: list[int | list[bytes | int]] | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._bursts = KeyBursts(pause_ends=False)
        self._pending: deque[Reading] = deque()
        self._ended = False

    @property
    def ended(self) -> bool:
        return self._ended and not self._pending

    def open(self) -> "KeyboardReader":
        """Takes over the terminal, if it is one; a pipe is read as it is, one code per line."""
        self._terminal = os.isatty(self._descriptor)
        self._bursts = KeyBursts(pause_ends=self._terminal)
        if self._terminal:
            self._take_over_terminal()
        return self

    def next(self, timeout_s: float) -> Reading | None:
        if not self._pending and not self._ended:
            self._wait(timeout_s)
        return self._pending.popleft() if self._pending else None

    def close(self) -> None:
        """Restores the terminal; the descriptor stays open, because the caller owns it."""
        self._ended = True
        self._pending.clear()
        if self._original_settings is not None:
            # A terminal that has been closed needs no restoring.
            with suppress(termios.error):
                termios.tcsetattr(self._descriptor, termios.TCSANOW, self._original_settings)
            self._original_settings = None

    def _take_over_terminal(self) -> None:
        try:
            self._original_settings = termios.tcgetattr(self._descriptor)
            termios.tcsetattr(self._descriptor, termios.TCSANOW, key_by_key(self._original_settings))
        except termios.error as why:
            happened = (
                "This program does not control the terminal: it runs in the background, or the terminal was closed."
            )
            raise DeviceError(self.name, happened, "Start it in the foreground, or use a pipe.") from why

    def _wait(self, timeout_s: float) -> None:
        ready = self._arrived(min(timeout_s, PAUSE_LOOK_S) if self._terminal else timeout_s)
        now = self._monotonic_ns()
        if ready:
            self._take(self._read(), now)
        else:
            self._deliver(self._bursts.pause(now), now)

    def _arrived(self, timeout_s: float) -> bool:
        try:
            return bool(select.select([self._descriptor], [], [], timeout_s)[0])
        except (OSError, ValueError) as why:
            raise self._lost() from why

    def _read(self) -> bytes:
        try:
            return os.read(self._descriptor, CHUNK)
        except OSError as why:
            raise self._lost() from why

    def _take(self, chunk: bytes, now: int) -> None:
        text = self._decoder.decode(chunk, final=not chunk)
        typed, ended_by_hand, _ = text.partition(END_OF_INPUT) if self._terminal else (text, "", "")
        for code in self._bursts.keys(typed, now):
            self._deliver(code, now)
        if not chunk or ended_by_hand:
            self._deliver(self._bursts.end(), now)
            self._ended = True

    def _deliver(self, code: str | None, now: int) -> None:
        if code:
            self._pending.append(Reading(code, now, self.name))

    def _lost(self) -> DeviceError:
        return DeviceError(
            self.name, "The keyboard or scanner can no longer be read.", "Plug it in again, then restart."
        )


def key_by_key(settings: list[int | list[bytes | int]]) -> list[int | list[bytes | int]]:
    """The terminal's settings without echo and line editing; Ctrl-C still works."""
    changed = list(settings)
    local = changed[3]
    assert isinstance(local, int)  # noqa: S101 - tcgetattr promises flags here; the stub cannot say so
    changed[3] = local & ~(termios.ICANON | termios.ECHO)
    return changed
