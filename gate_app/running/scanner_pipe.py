"""A simulated scanner: scans the codes that are written, one per line, to a pipe in the home."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

LOOK_S = 0.2
_CHUNK = 4_096


def feed_from_pipe(pipe: Path, scan: Callable[[str], None], stop: threading.Event) -> None:
    """Reads codes until `stop` is set, then removes the pipe."""
    with suppress(FileExistsError):
        os.mkfifo(pipe, 0o600)
    # Opened for reading and writing: otherwise each writer that closes the pipe would end the input.
    handle = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        _read_lines(handle, scan, stop)
    finally:
        os.close(handle)
        with suppress(OSError):
            pipe.unlink()


def _read_lines(handle: int, scan: Callable[[str], None], stop: threading.Event) -> None:
    rest = b""
    while not stop.is_set():
        if not select.select([handle], [], [], LOOK_S)[0]:
            continue
        *lines, rest = (rest + os.read(handle, _CHUNK)).split(b"\n")
        for line in lines:
            scan(line.decode("utf-8", "replace").rstrip("\r"))
