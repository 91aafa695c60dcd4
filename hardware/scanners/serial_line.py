"""Scanners on a serial line, or on USB in serial mode."""

import codecs
import os
import termios
from collections.abc import Callable
from pathlib import Path

from hardware.ports import DeviceError, MonotonicNs, nothing
from hardware.scanners.found import LINES, may_not_open, path_of, serial_lines
from hardware.scanners.scanner import Scanner
from hardware.serial_settings import SPEEDS, set_up


class SerialLine:
    """An open line, with eight bits, no parity and no handshake."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def text(self, chunk: bytes) -> str:
        return self._decoder.decode(chunk)


def serial_scanner(
    source: str,
    baud: int,
    monotonic_ns: MonotonicNs,
    name: str = "serial",
    folder: Path = LINES,
    *,
    whole: Callable[[str], bool] = nothing,
) -> Scanner:
    """A scanner on the line that `source` names, not open yet."""
    return Scanner(
        lambda: _open(path_of(source, folder, serial_lines(folder), name), baud, name), monotonic_ns, name, whole
    )


def _open(path: Path, baud: int, name: str) -> SerialLine:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as why:
        raise may_not_open(name, path, why, "dialout") from why
    try:
        set_up(descriptor, SPEEDS[baud])
    except (OSError, termios.error) as why:
        os.close(descriptor)
        raise DeviceError(name, f"{path} is not a serial port.", 'Name another in the settings, source = "…".') from why
    return SerialLine(descriptor)
