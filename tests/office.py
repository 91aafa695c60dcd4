"""A server on a real database with one organisation, and its box office: asks over HTTP, with a clock set by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from shared.keys import KeyRing, TicketKey
from shared.snapshot import EMPTY_DIGEST, AnyRow, KeyRow, RowKind, digest_add, unpack
from sync_server.accounts import service as people
from sync_server.accounts import signing_in
from sync_server.app import build, prepare, web_of
from sync_server.config import check
from sync_server.migrations import schema
from sync_server.plumbing.principals import SYSTEM, Action, Deed
from sync_server.revisions import queries as revisions
from sync_server.workers import Worker
from tests.builders import EVENING, a_ticket_type, a_venue, a_wish, an_event

PASSWORD = "four walls and a roof"


def dice(seed: str) -> Callable[[int], bytes]:
    """Entropy that is the same in every run, and never twice the same within one."""
    turn = count()

    def roll(n: int) -> bytes:
        blocks = (sha256(f"{seed}/{next(turn)}".encode()).digest() for _ in range(-(-n // 32)))
        return b"".join(blocks)[:n]

    return roll


@dataclass
class Desk:
    """One principal's way of asking: token or browser session."""

    client: FlaskClient
    headers: dict[str, str]

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> TestResponse:
        """Any request."""
        return self.client.open(path, method=method, json=body, headers=self.headers | headers)

    def get(self, path: str, status: int = 200) -> Any:
        """Read, and expect this status."""
        return self._expect(self.ask("GET", path), status)

    def post(self, path: str, body: Any = None, status: int = 201, **headers: str) -> Any:
        """Create or change, and expect this status."""
        return self._expect(self.ask("POST", path, {} if body is None else body, **headers), status)

    def patch(self, path: str, body: Any, status: int = 200) -> Any:
        """Change some fields, and expect this status."""
        return self._expect(self.ask("PATCH", path, body), status)

    def put(self, path: str, body: Any, status: int = 200) -> Any:
        """Say how it is from now on, and expect this status."""
        return self._expect(self.ask("PUT", path, body), status)

    def refused(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        """Status and code word of a refusal."""
        answer = self.ask(method, path, body)
        return answer.status_code, answer.json["error"]["code"] if answer.json else ""

    @staticmethod
    def _expect(answer: TestResponse, status: int) -> Any:
        assert answer.status_code == status, f"{answer.status_code}: {answer.get_data(as_text=True)[:500]}"
        return answer.json


class Office:
    """The server's side; `desk` acts for the first organisation with every right."""

    def __init__(self, database_url: str, folder: Path, *, fresh: bool = True, **settings: Any) -> None:
        self.now = EVENING
        self.url, self.folder = database_url, folder
        self.dice = dice(f"office {fresh}")
        key = folder / "master.key"
        key.write_text("11" * 32)
        config = check({"database_url": database_url, "master_key_file": key, "log_level": "error"} | settings)
        self.ground = build(config, clock=lambda: self.now, entropy=self.dice)
        self.parts, self.database = self.ground.parts, self.ground.parts.database
        if fresh:
            schema.upgrade(self.database.engine)
        prepare(self.ground)
        self.app = web_of(self.ground)

    def close(self) -> None:
        self.ground.close()

    def advance(self, ms: int) -> None:
        self.now += ms

    def deed(self) -> Deed:
        return Deed(SYSTEM, self.now, self.dice)

    def work(self) -> None:
        """One round of the worker."""
        Worker(self.parts).run_once()

    def organisation(self, slug: str) -> str:
        with self.database.writing() as session:
            row = people.create_organisation(
                session, name=slug.title(), slug=slug, currency="EUR", actor=SYSTEM, now=self.now, entropy=self.dice
            )
            return row.id

    def desk(self, organisation_id: str, scopes: Iterable[str] = tuple(action.value for action in Action)) -> Desk:
        """A desk with an API token of that organisation."""
        with self.database.writing() as session:
            _, token = signing_in.make_token(
                session,
                organisation_id,
                name="desk",
                scopes=list(scopes),
                ends_at=None,
                by=None,
                actor=SYSTEM,
                now=self.now,
                entropy=self.dice,
            )
        return Desk(self.app.test_client(), {"Authorization": f"Bearer {token}"})

    def user(self, email: str, organisation_id: str | None = None, role: str = "staff", platform: str = "") -> str:
        """A login with PASSWORD."""
        with self.database.writing() as session:
            row = people.add_user(
                session,
                email=email,
                name=email.split("@", maxsplit=1)[0],
                password=PASSWORD,
                actor=SYSTEM,
                now=self.now,
                entropy=self.dice,
                platform_role=platform,
            )
            if organisation_id is not None:
                people.give_role(session, organisation_id, row.id, role, giver=None, actor=SYSTEM, now=self.now)
            return row.id

    def browser(self, email: str) -> Desk:
        """Somebody who signed in with a browser."""
        client = self.app.test_client()
        answer = client.post("/api/session", json={"email": email, "password": PASSWORD})
        assert answer.status_code == 200, answer.get_data(as_text=True)
        return Desk(client, {"X-CSRF-Token": answer.json["csrf_token"]} if answer.json else {})

    def held(self, event_number: int) -> list[AnyRow]:
        """Everything that gates hold of an event; its digest is checked on the way."""
        with self.database.reading() as session:
            rows = revisions.frame_rows(session, event_number, 0, 0, 100_000)
            head = revisions.head(session, event_number)
        assert head is not None and digest_add(EMPTY_DIGEST, *rows) == head.digest
        return [unpack(row) for row in rows]

    def held_of(self, event_number: int, kind: RowKind) -> list[Any]:
        """The rows of one kind."""
        with self.database.reading() as session:
            rows = revisions.frame_rows(session, event_number, 0, 0, 100_000)
        return [unpack(row) for row in rows if row.kind is kind]

    def ring(self, event_number: int) -> KeyRing:
        """The keys as a gate of this event has them."""
        rows: list[KeyRow] = self.held_of(event_number, RowKind.KEY)
        return KeyRing.of(TicketKey.of(row.id, row.organisation, row.public, row.state) for row in rows)


@dataclass
class Evening:
    """An event with its venue, ready to issue tickets."""

    desk: Desk
    venue: dict[str, Any]
    event: dict[str, Any]

    @property
    def path(self) -> str:
        return f"/api/events/{self.event['id']}"

    @property
    def number(self) -> int:
        return int(self.event["number"])

    def issue(self, status: int = 201, **changed: Any) -> Any:
        """Tickets of the first type."""
        return self.desk.post(f"{self.path}/tickets", a_wish(**changed), status)

    def ticket(self, **changed: Any) -> dict[str, Any]:
        """One ticket of the first type."""
        made: dict[str, Any] = self.issue(**changed)["items"][0]
        return made

    def code(self, ticket: dict[str, Any]) -> str:
        """What is printed on it."""
        return str(self.desk.get(f"/api/tickets/{ticket['id']}/code")["code"])


def an_evening(desk: Desk, *, kind: dict[str, Any] | None = None, **changed: Any) -> Evening:
    """A venue, an event and one ticket type."""
    venue = desk.post("/api/venues", a_venue())
    event = desk.post("/api/events", an_event(venue["id"], **changed))
    evening = Evening(desk, venue, event)
    desk.post(f"{evening.path}/ticket-types", kind or a_ticket_type())
    return evening
