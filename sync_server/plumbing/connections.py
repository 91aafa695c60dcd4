"""Ends connections of clients from which nothing more is awaited, below the HTTP server, which cannot."""

from __future__ import annotations

import os
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import Final

_DESCRIPTORS: Final = Path("/proc/self/fd")
_LAST_DATA_SENT: Final = struct.Struct("=44xI")
"""Where the kernel's tcp_info has the milliseconds since data was last sent."""


def stop_reading(address: str, port: int, *, quiet_s: float) -> int:
    """Stop reading from this address the connections to our port on which we have sent nothing for so long; how many.

    A request that is being read ends as if its client had left. An idle connection ends too, as it may at any time.
    Without Linux nothing happens.
    """
    if not _DESCRIPTORS.is_dir():
        return 0
    found = 0
    for descriptor in _DESCRIPTORS.iterdir():
        with suppress(OSError):  # it may be closed by now
            if str(descriptor.readlink()).startswith("socket:"):
                with socket.socket(fileno=os.dup(int(descriptor.name))) as connection:
                    if _is_quiet(connection, address, port, quiet_s):
                        connection.shutdown(socket.SHUT_RD)
                        found += 1
    return found


def _is_quiet(connection: socket.socket, address: str, port: int, quiet_s: float) -> bool:
    if connection.family not in {socket.AF_INET, socket.AF_INET6} or connection.type != socket.SOCK_STREAM:
        return False
    if connection.getsockname()[1] != port or connection.getpeername()[0] != address:
        return False
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LAST_DATA_SENT.size)
    return bool(_LAST_DATA_SENT.unpack(info)[0] >= quiet_s * 1000)
