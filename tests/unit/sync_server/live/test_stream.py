"""A board as a stream: each state once, heartbeats between, an end when the server stops."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from sync_server.live.board import Board
from sync_server.live.stream import frames

QUIET = Board("1", "live", 0, 0, 0, 0, 0, 0, 0, None, ())


class Impatient(threading.Event):
    """An event that never makes anybody wait."""

    def wait(self, timeout: float | None = None) -> bool:
        return self.is_set()


def told(boards: Iterator[Board], count: int, seen: str = "") -> list[str]:
    """The first frames after the hint when to come again."""
    return list(islice(frames(lambda: next(boards), Impatient(), seen), 1, count + 1))


def test_the_same_numbers_are_told_once() -> None:
    later = replace(QUIET, version="2", entries=1)
    first, second = told(iter([QUIET, QUIET, QUIET, later]), 2)
    assert first.startswith("event: counters\nid: 1\n")
    assert '"entries":1' in second


def test_who_comes_back_is_told_only_what_is_new() -> None:
    later = replace(QUIET, version="2")
    (only,) = told(iter([QUIET, later]), 1, seen="1")
    assert "id: 2\n" in only


def test_silence_is_broken_by_heartbeats() -> None:
    lines = told(iter([QUIET] * 30), 3)
    assert lines[1:] == [": heartbeat\n\n", ": heartbeat\n\n"]


def test_a_change_of_status_is_told_by_itself() -> None:
    over = replace(QUIET, version="2", status="ended")
    assert told(iter([QUIET, over]), 3)[1].startswith("event: status\n")


def test_the_stream_ends_with_the_server() -> None:
    stop = Impatient()
    stream = frames(lambda: QUIET, stop, "")
    next(stream)
    stop.set()
    assert list(stream) == []
