"""Scanners that type: taken from the desktop, so that no code ends in a window, and read key by key."""

import fcntl
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hardware.ports import MonotonicNs, nothing
from hardware.scanners import key_positions
from hardware.scanners.found import KEYBOARDS, keyboards, may_not_open, path_of
from hardware.scanners.key_positions import ALT, ALT_GR, CAPS_LOCK, CONTROLS, DIGITS_OF_KEYPAD, SHIFTS
from hardware.scanners.scanner import Scanner

EVENT: Final = struct.Struct("@llHHi")
"""The kernel's struct input_event: seconds, microseconds, type, code, value."""
EV_SYN, EV_KEY = 0, 1
SYN_DROPPED = 3
RELEASED, PRESSED = 0, 1
_EVIOCGRAB: Final = 0x40044590

Grab = Callable[[int], None]


class KeysOfScanner:
    """An open scanner: key events become what the scanner meant to type."""

    def __init__(self, descriptor: int, layout: str = "us") -> None:
        self.descriptor = descriptor
        self._plain = key_positions.plain(layout)
        self._shifted = key_positions.shifted(layout)
        self._with_alt_gr = key_positions.with_alt_gr(layout)
        self._held: set[int] = set()
        self._caps = False
        self._number = ""
        self._rest = b""

    def text(self, chunk: bytes) -> str:
        whole = self._rest + chunk
        end = len(whole) - len(whole) % EVENT.size
        self._rest = whole[end:]
        return "".join(self._event(kind, code, value) for _, _, kind, code, value in EVENT.iter_unpack(whole[:end]))

    def _event(self, kind: int, code: int, value: int) -> str:
        if (kind, code) == (EV_SYN, SYN_DROPPED):
            # Keys were lost: what is left of this code must end as unreadable, not join the next.
            self._held.clear()
            return "\N{REPLACEMENT CHARACTER}"
        if kind != EV_KEY or value not in {RELEASED, PRESSED}:
            return ""
        return self._press(code) if value == PRESSED else self._release(code)

    def _press(self, key: int) -> str:
        if key in SHIFTS | CONTROLS | {ALT, ALT_GR}:
            self._held.add(key)
        elif key == CAPS_LOCK:
            self._caps = not self._caps
        elif ALT in self._held:
            self._number += DIGITS_OF_KEYPAD.get(key, "")
        else:
            return self._typed(key)
        return ""

    def _typed(self, key: int) -> str:
        if self._held & CONTROLS:
            # Control characters such as a group separator, which no code of ours needs.
            return ""
        if ALT_GR in self._held:
            return self._with_alt_gr.get(key, "")
        alone = self._plain.get(key, "")
        capital = self._caps and alone.isalpha()
        return self._shifted.get(key, "") if bool(self._held & SHIFTS) != capital else alone

    def _release(self, key: int) -> str:
        self._held.discard(key)
        if key != ALT or not self._number:
            return ""
        # Scanners that type on any keyboard hold Alt and type each character's number on the keypad.
        number, self._number = int(self._number[-4:]), ""
        return bytes([number]).decode("cp1252", "replace") if number < 256 else ""


def take_from_desktop(descriptor: int) -> None:
    """From now on only this program gets its keys. Raises OSError if another has it, or if it has no keys."""
    fcntl.ioctl(descriptor, _EVIOCGRAB, 1)


@dataclass(frozen=True, slots=True)
class UsbScanner:
    """Which scanner is meant, and the keyboard that it is set to."""

    source: str
    layout: str = "us"
    folder: Path = KEYBOARDS
    grab: Grab = take_from_desktop

    def reader(self, monotonic_ns: MonotonicNs, name: str = "usb", whole: Callable[[str], bool] = nothing) -> Scanner:
        """A reader of it, not open yet."""
        return Scanner(
            lambda: self._open(path_of(self.source, self.folder, keyboards(self.folder), name), name),
            monotonic_ns,
            name,
            whole,
        )

    def _open(self, path: Path, name: str) -> KeysOfScanner:
        descriptor = -1
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            self.grab(descriptor)
        except OSError as why:
            if descriptor >= 0:
                os.close(descriptor)
            raise may_not_open(name, path, why, "input") from why
        return KeysOfScanner(descriptor, self.layout)
