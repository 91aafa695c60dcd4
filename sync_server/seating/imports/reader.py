"""Reads a file in a process of its own, and hands over what it says."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import IO, Any, Final, cast

import orjson

from sync_server.seating.layout_rows import LayoutKey

AHEAD: Final = 4
"""Messages that are read before they are wanted."""

Message = dict[str, Any]


class ReaderLost(Exception):
    """The reading process ended without an end: it was killed, or took more than it may."""


@contextmanager
def reading(
    parts: Iterable[bytes], query: Mapping[str, Any], key: LayoutKey, *, size: int, beat_s: float
) -> Iterator[Iterator[Message | None]]:
    """What the reader says, message by message; None whenever it has said nothing for `beat_s` seconds.

    `query` says how the file is read, as the request did.
    """
    told = orjson.dumps({"query": query, "key": asdict(key), "size": size}).decode()
    command = [sys.executable, "-P", "-m", "sync_server.seating.imports.reader_process", told]
    # Its packages may lie where only this process looks.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        said: queue.Queue[bytes] = queue.Queue(AHEAD)
        ended = threading.Event()
        threads = [
            threading.Thread(
                target=_feed, args=(cast(IO[bytes], process.stdin), parts), name="import file", daemon=True
            ),
            threading.Thread(
                target=_hear, args=(cast(IO[bytes], process.stdout), said, ended), name="import rows", daemon=True
            ),
        ]
        for thread in threads:
            thread.start()
        try:
            yield _messages(said, beat_s)
        finally:
            ended.set()
            process.kill()
            for thread in threads:
                thread.join()


def _feed(pipe: IO[bytes], parts: Iterable[bytes]) -> None:
    with suppress(BrokenPipeError), pipe:  # it has ended, and its last message says why
        for part in parts:
            pipe.write(part)


def _hear(pipe: IO[bytes], said: queue.Queue[bytes], ended: threading.Event) -> None:
    for line in _lines(pipe):
        while not ended.is_set():
            with suppress(queue.Full):
                said.put(line, timeout=0.5)
                break


def _lines(pipe: IO[bytes]) -> Iterator[bytes]:
    """Its lines, and an empty one at the end."""
    yield from pipe
    yield b""


def _messages(said: queue.Queue[bytes], beat_s: float) -> Iterator[Message | None]:
    while True:
        try:
            line = said.get(timeout=beat_s)
        except queue.Empty:
            yield None
            continue
        if not line:
            raise ReaderLost
        message: Message = orjson.loads(line)
        yield message
        if "end" in message or "problem" in message:
            return
