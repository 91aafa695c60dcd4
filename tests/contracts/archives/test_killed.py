"""The process that puts an event away is killed again and again, and nothing is ever lost."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import text

from sync_server.archives import removing, sealed_files
from tests.app_server import AppServer
from tests.contracts.archives.carrying import carry_on
from tests.contracts.archives.evening import Evening, an_evening

KILLS = 4


@pytest.fixture
def evening(app_server: AppServer) -> Evening:
    """So many guests that their rows leave in some dozen pieces."""
    return an_evening(app_server, guests=40)


def settings_of(evening: Evening) -> dict[str, Any]:
    return evening.app_server.parts.config.model_dump(exclude_defaults=True)


def rows_and_file(evening: Evening) -> Iterator[tuple[str, bytes]]:
    """Every row of the event in the tables, and in its file once that is complete."""
    for name, lines in evening.content().items():
        yield from ((name, line) for line in lines)
    with evening.app_server.database.reading() as session:
        state, file = session.execute(text("SELECT state, file FROM event_archives")).one()
    folder = evening.app_server.parts.config.archives
    if state != "writing" and folder is not None:
        manifest = sealed_files.verify(folder / file).manifest
        with sealed_files.opened(folder / file) as archive:
            for part in manifest.parts:
                yield from ((part.name, line.rstrip(b"\n")) for line in sealed_files.lines(archive, part))


def two_minutes_later(evening: Evening) -> None:
    """Nobody waits any longer for a process that is dead."""
    with evening.app_server.database.writing() as session:
        session.execute(text("UPDATE event_archives SET leased_until = 0"))


def killed_again_and_again(evening: Evening, dice: random.Random) -> None:
    """Kill it so often that it comes to its end only afterwards."""
    before, killed = set(rows_and_file(evening)), 0
    for _ in range(KILLS):
        two_minutes_later(evening)
        killed += not carry_on(settings_of(evening), evening.key, kill_after=1 + dice.randrange(5))
        assert before <= set(rows_and_file(evening)), "a row is neither in the tables nor in a complete file"
    assert killed
    two_minutes_later(evening)
    assert carry_on(settings_of(evening), evening.key)
    assert before <= set(rows_and_file(evening))


def test_killed_at_any_moment_it_goes_on_and_loses_nothing(evening: Evening) -> None:
    evening.api.post(f"{evening.path}/archive", status=200)
    before, dice = evening.content(), random.Random(1)
    evening.ask()
    killed_again_and_again(evening, dice)
    assert evening.api.get(f"{evening.path}/archive")["state"] == "put_away"
    assert evening.counts() == {}
    evening.api.post(f"{evening.path}/archive/restore", {"reason": "a dispute"}, 202)
    killed_again_and_again(evening, dice)
    assert evening.api.get(f"{evening.path}/archive")["state"] == "restored"
    assert evening.content() == before


def test_rows_leave_in_pieces(evening: Evening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removing, "PIECE", 7)
    monkeypatch.setattr(removing, "PIECE_EMBEDDED", 7)
    evening.ask()
    evening.work()
    evening.api.post(f"{evening.path}/archive/restore", {"reason": "to look"}, 202)
    evening.work()
    pieces = list(removing.remove(evening.app_server.database, evening.key, evening.file()))
    assert max(pieces) == 7 and evening.counts() == {}
