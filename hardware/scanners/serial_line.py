"""Scanners on a serial line, or on USB in serial mode."""

import codecs
import fcntl
import os
import termios
import tty
from pathlib import Path
from typing import Final

from hardware.ports import DeviceError, MonotonicNs
from hardware.scanners.found import LINES, may_not_open, path_of, serial_lines
from hardware.scanners.scanner import Scanner

SPEEDS: Final = {
    speed: getattr(termios, f"B{speed}") for speed in (1200, 2400, 4800, 9600, 19200, 38400, 57600, 115200)
}
"""The speeds that a line can have, and how the system calls them."""


class SerialLine:
    """An open line, with eight bits, no parity and no handshake."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def text(self, chunk: bytes) -> str:
        return self._decoder.decode(chunk)


def serial_scanner(
    source: str, baud: int, monotonic_ns: MonotonicNs, name: str = "serial", folder: Path = LINES
) -> Scanner:
    """A scanner on the line that `source` names, not open yet."""
    return Scanner(lambda: _open(path_of(source, folder, serial_lines(folder), name), baud, name), monotonic_ns, name)


def _open(path: Path, baud: int, name: str) -> SerialLine:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as why:
        raise may_not_open(name, path, why, "dialout") from why
    try:
        set_up(descriptor, SPEEDS[baud])
    except (OSError, termios.error) as why:
        os.close(descriptor)
        raise DeviceError(name, f"{path} is no serial line.", 'Name another in the settings, source = "…".') from why
    return SerialLine(descriptor)


def set_up(descriptor: int, speed: int) -> None:
    """Eight bits, no parity, no handshake, and nobody else on the line. Raises OSError or termios.error."""
    # Two programs on one line would get half a code each.
    fcntl.ioctl(descriptor, termios.TIOCEXCL)
    tty.setraw(descriptor, termios.TCSANOW)
    settings = termios.tcgetattr(descriptor)
    control = settings[2] & ~(termios.CSIZE | termios.PARENB | termios.CSTOPB | termios.CRTSCTS)
    settings[2] = control | termios.CS8 | termios.CREAD | termios.CLOCAL
    settings[4] = settings[5] = speed
    termios.tcsetattr(descriptor, termios.TCSANOW, settings)
    termios.tcflush(descriptor, termios.TCIFLUSH)
