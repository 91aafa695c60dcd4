"""kill -9 of the server during a rush: every guest who got a seat keeps it, nobody else does, and all tables agree."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from sync_server.audit.proof import prove
from sync_server.devices import identity
from sync_server.workers import Worker
from tests.contracts.holds.agreement import disagreements
from tests.services.mortal_server import MortalServer

KILL_AFTER = 24
"""The server is killed after this many seats were held."""


class Rush(MortalServer):
    """Eight guests who want the same rows at a server that is killed."""

    def __init__(self, url: str, folder: Path) -> None:
        super().__init__(url, folder)
        with self.runtime.parts.database.writing() as session:
            # An event with a limit of its own is held in ordinary transactions; without one, in one statement.
            session.execute(text("UPDATE events SET capacity = 0"))
        self.organisation: str = self.demo["organisation"]["id"]
        self.slug: str = self.demo["organisation"]["slug"]
        self.confirmed: list[tuple[str, str]] = []  # hold and seat of each 201
        self.enough, self.over = threading.Event(), threading.Event()

    def guest(self) -> dict[str, str]:
        """A new guest: the headers they send with each request."""
        _, body, headers = self.ask("POST", f"/api/o/{self.slug}/session", {})
        return {"Cookie": str(headers["Set-Cookie"]).split(";")[0], "X-CSRF-Token": body["csrf_token"]}

    def shop(self, seats: list[tuple[str, str]], guest: dict[str, str]) -> None:
        """Reserve one seat after another; where another guest was quicker, the next one."""
        for seat, name in seats:
            if self.over.is_set():
                return
            try:
                status, body, _ = self.ask("POST", f"/api/events/{self.event}/seats/{seat}/reserve", guest)
            except (OSError, http.client.HTTPException):
                return  # nothing was confirmed
            if status == 201:
                self.confirmed.append((body["data"]["hold_id"], name))
            if len(self.confirmed) >= KILL_AFTER:
                self.enough.set()


@pytest.fixture
def rush(database_url: str, tmp_path: Path) -> Iterator[Rush]:
    """The demo event, with its server not started yet."""
    rush = Rush(database_url, tmp_path)
    yield rush
    rush.close()


def test_every_confirmed_seat_is_still_held_after_the_kill(rush: Rush) -> None:
    rush.start()
    database = rush.runtime.parts.database
    with database.reading() as session:
        seats = session.execute(text("SELECT id, seat_id, row FROM layout_seats ORDER BY number")).all()
    by_row = {row: [(id, name) for id, name, its in seats if its == row] for row in "ABCD"}
    guests = [rush.guest() for _ in range(8)]
    works = [threading.Thread(target=rush.shop, args=(by_row["ABCD"[n % 4]], guests[n])) for n in range(8)]
    for work in works:
        work.start()
    assert rush.enough.wait(60)
    rush.server.kill()
    rush.over.set()
    for work in works:
        work.join()
    rush.start()
    with database.reading() as session:
        held = {
            (hold, name)
            for hold, name in session.execute(
                text(
                    "SELECT holds.id, seat_id FROM holds JOIN layout_seats ON number = seat WHERE status = 'active'"
                    " AND holds.event_id = :event"
                ),
                {"event": rush.event},
            )
        }
        facts = session.execute(text("SELECT subjects FROM outbox WHERE name = 'seat_held'")).scalars().all()
        lines = session.execute(text("SELECT subject_id FROM audit_lines WHERE action = 'seat_reserved'")).scalars()
        assert disagreements(session, rush.event) == []
        ids = {hold for hold, _ in held}
        assert set(rush.confirmed) <= held and len(held) == len({name for _, name in held}) <= len(rush.confirmed) + 8
        assert sorted(_hold(subjects) for subjects in facts) == sorted(lines) == sorted(ids)
    mine = [hold["hold_id"] for guest in guests for hold in rush.ask("GET", "/api/me/holds", guest)[1]["data"]["holds"]]
    assert sorted(mine) == sorted(ids)
    Worker(rush.runtime.parts).run_once()  # seals what was written
    with database.reading() as session:
        public = identity.public_key(session, rush.runtime.parts.sealer)
        assert not prove(session, rush.organisation, public=public).broken


def _hold(subjects: Any) -> str:
    return str((json.loads(subjects) if isinstance(subjects, str) else subjects)["hold"])
