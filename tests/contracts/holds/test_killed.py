"""kill -9 of the server during a rush: every guest who got a seat keeps it, nobody else does, and all tables agree."""

from __future__ import annotations

import http.client
import json
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port
from sync_server.app import build_runtime, prepare_database
from sync_server.audit.proof import prove
from sync_server.commands import demo
from sync_server.config import check
from sync_server.devices import identity
from sync_server.migrations import schema
from sync_server.workers import Worker
from tests.contracts.holds.agreement import disagreements

ROOT = Path(__file__).parents[3]
KILL_AFTER = 24
"""The server is killed after this many seats were held."""


@dataclass
class Rush:
    """The demo event behind a server that can be killed, and eight guests who want the same rows."""

    url: str
    folder: Path
    port: int = field(default_factory=free_port)
    confirmed: list[tuple[str, str]] = field(default_factory=list)  # hold and seat of each 201
    enough: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        key = self.folder / "master.key"
        key.write_text("11" * 32)
        self.runtime = build_runtime(check({"database_url": self.url, "master_key_file": key, "log_level": "error"}))
        schema.upgrade(self.runtime.parts.database.engine)
        prepare_database(self.runtime)
        made = demo.make_demo(self.runtime)
        with self.runtime.parts.database.writing() as session:
            # An event with a limit of its own is held in ordinary transactions; without one, in one statement.
            session.execute(text("UPDATE events SET capacity = 0"))
        self.organisation: str = made["organisation"]["id"]
        self.slug: str = made["organisation"]["slug"]
        self.event: str = made["event"]["id"]
        environment = {
            "GATEHOUSE_DATABASE_URL": self.url,
            "GATEHOUSE_MASTER_KEY_FILE": str(key),
            "GATEHOUSE_LOG_LEVEL": "error",
        }
        command = [sys.executable, "-m", "sync_server", "serve", "--port", str(self.port)]
        self.server = Child("the server", command, self.folder / "log", environment, ROOT)

    def start(self) -> None:
        self.server.start()
        self.server.wait_until(self._ready)

    def _ready(self) -> bool:
        try:
            return self.ask("GET", "/readyz", {})[0] == 200
        except OSError:
            return False

    def ask(self, method: str, path: str, headers: dict[str, str]) -> tuple[int, Any, http.client.HTTPMessage]:
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=60)
        try:
            connection.request(method, path, headers=headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read() or b"null"), response.headers
        finally:
            connection.close()

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
    rush.server.kill()
    rush.runtime.close()


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
