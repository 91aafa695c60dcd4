"""The ways to a printer that takes bytes: a TCP address, a serial line, a USB device."""

import errno
import os
import re
import select
import socket
import stat
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from hardware.ports import PrinterError, PrinterFault
from hardware.printers.faults import no_permission, other, unplugged
from hardware.serial_settings import SPEEDS, set_up

CONNECT_S: Final = 3.0
STALLED_S: Final = 10.0
"""A printer that takes no byte for so long is stuck; paper ends in the middle of a page too."""
RAW_PORT: Final = 9100
_ADDRESS: Final = re.compile(r"^(?:\[(?P<six>[0-9a-fA-F:.]+)\]|(?P<host>[^/:\s]+))(?::(?P<port>\d{1,5}))?$")
_GONE: Final = frozenset({errno.ENOENT, errno.ENXIO, errno.ENODEV, errno.EIO, errno.ESHUTDOWN})


class Line(Protocol):
    """An open way to a printer."""

    def write(self, data: bytes) -> None:
        """Sends all of it. Raises PrinterError, `begun` once a byte has left."""
        ...

    def read(self, timeout_s: float) -> bytes:
        """What the printer has sent; empty if nothing came in time. Raises PrinterError if it has gone."""
        ...

    def close(self) -> None: ...


Dial = Callable[[], Line]
"""Opens the way anew. Raises PrinterError."""


class Descriptor:
    """A line over a file descriptor that does not block."""

    def __init__(self, descriptor: int, name: str, close: Callable[[], None]) -> None:
        self._descriptor, self._name, self._close = descriptor, name, close

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            begun = len(rest) < len(data)
            if not select.select([], [self._descriptor], [], STALLED_S)[1]:
                raise other(self._name, "The printer takes no more data.", begun=begun)
            try:
                rest = rest[os.write(self._descriptor, rest[:4096]) :]
            except BlockingIOError:
                continue
            except OSError as why:
                raise unplugged(self._name, why.strerror or "", begun=begun) from why

    def read(self, timeout_s: float) -> bytes:
        if not select.select([self._descriptor], [], [], timeout_s)[0]:
            return b""
        try:
            came = os.read(self._descriptor, 4096)
        except BlockingIOError:
            return b""
        except OSError as why:
            raise unplugged(self._name, why.strerror or "") from why
        if not came:
            raise unplugged(self._name, "it closed the connection")
        return came

    def close(self) -> None:
        self._close()


def dial(at: str, baud: int, name: str) -> Dial:
    """How to reach a printer at an address, or at a path under /dev. Raises PrinterError for what is neither."""
    if at.startswith("/"):
        return lambda: _open_device(Path(at), baud, name)
    found = _ADDRESS.match(at)
    if found is None:
        remedy = 'Set at = "192.0.2.40:9100" for a network printer, at = "/dev/usb/lp0" or a serial line.'
        raise PrinterError(name, PrinterFault.OTHER, f"“{at}” is neither an address nor a path.", remedy)
    host, port = found["six"] or found["host"], int(found["port"] or RAW_PORT)
    return lambda: _connect(host, port, name)


def _connect(host: str, port: int, name: str) -> Line:
    try:
        connection = socket.create_connection((host, port), CONNECT_S)
    except (OSError, OverflowError) as why:
        raise unplugged(name, f"{host}:{port}: {why}") from why
    connection.setblocking(False)
    return Descriptor(connection.fileno(), name, connection.close)


def _open_device(path: Path, baud: int, name: str) -> Line:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except PermissionError as why:
        raise no_permission(name, str(path), _group(path)) from why
    except OSError as why:
        if why.errno in _GONE:
            raise unplugged(name, f"{path}: {why.strerror}") from why
        raise other(name, f"{path} cannot be opened ({why.strerror}).") from why
    if not stat.S_ISCHR(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise other(name, f"{path} is not a device.")
    if os.isatty(descriptor):
        _set_up(descriptor, baud, path, name)
    return Descriptor(descriptor, name, lambda: os.close(descriptor))


def _set_up(descriptor: int, baud: int, path: Path, name: str) -> None:
    try:
        set_up(descriptor, SPEEDS[baud])
    except (OSError, termios.error) as why:
        os.close(descriptor)
        raise other(name, f"{path} is not a usable serial port ({why}).") from why


def _group(path: Path) -> str:
    try:
        return path.group()
    except (KeyError, OSError):
        return "lp"
