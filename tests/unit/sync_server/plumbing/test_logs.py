"""Each log line is written in one piece: several processes share the file."""

from __future__ import annotations

import io
import json
import sys

import pytest

from sync_server.plumbing.telemetry import logs


class Pieces(io.StringIO):
    """A file that records each write."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []

    def write(self, text: str) -> int:
        self.pieces.append(text)
        return len(text)


def test_a_line_is_written_with_its_newline(monkeypatch: pytest.MonkeyPatch) -> None:
    file = Pieces()
    with monkeypatch.context() as here:
        here.setattr(sys, "stderr", file)
        logs.set_up("info")
        logs.LOG.info("redis_back", count=1)
    logs.set_up("error")
    (piece,) = file.pieces
    assert piece.endswith("\n") and json.loads(piece)["event"] == "redis_back"


def test_a_line_goes_to_what_is_standard_error_at_its_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    logs.set_up("info")
    file = Pieces()
    with monkeypatch.context() as here:
        here.setattr(sys, "stderr", file)
        logs.LOG.info("redis_back", count=1)
        logs.set_up("error")
        logs.LOG.info("redis_back", count=2)
    assert [json.loads(piece)["count"] for piece in file.pieces] == [1]
