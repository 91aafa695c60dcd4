"""An application server on a real database in this process, with a manual clock, and clients of its API."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from shared.clock import MonotonicClock, monotonic_clock
from shared.keys import KeyRing, TicketKey
from shared.wire.snapshot import EMPTY_DIGEST, AnyRow, KeyRow, RowKind, digest_add, unpack
from sync_server.accounts import members, tokens
from sync_server.accounts import service as people
from sync_server.app import web_app
from sync_server.config import check
from sync_server.events.models import EventRecord
from sync_server.migrations import schema
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import SYSTEM, Action, ActionContext
from sync_server.revisions import queries as revisions
from sync_server.runtime import build_runtime, prepare_database
from sync_server.waiting.listener import StreamsListener
from sync_server.workers import Worker
from tests.builders import EVENING, a_ticket_request, a_ticket_type, a_venue, an_event
from tests.staff import PASSWORD, a_login
from tests.streams import redirect_streams, start_listener

ALL_SCOPES = tuple(action.value for action in Action)


def seeded_entropy(seed: str) -> Callable[[int], bytes]:
    """Entropy that is the same in every run and never repeats within one."""
    blocks_used = count()

    def draw(n: int) -> bytes:
        blocks = (sha256(f"{seed}/{next(blocks_used)}".encode()).digest() for _ in range(-(-n // 32)))
        return b"".join(blocks)[:n]

    return draw


@dataclass
class ApiClient:
    """A client of the API with the headers of one principal: a token or a browser session."""

    client: FlaskClient
    headers: dict[str, str]

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> TestResponse:
        """Send any request."""
        return self.client.open(path, method=method, json=body, headers=self.headers | headers)

    def get(self, path: str, status: int = 200) -> Any:
        """GET, and expect this status."""
        return self._expect(self.ask("GET", path), status)

    def post(self, path: str, body: Any = None, status: int = 201, **headers: str) -> Any:
        """POST, and expect this status."""
        return self._expect(self.ask("POST", path, {} if body is None else body, **headers), status)

    def patch(self, path: str, body: Any, status: int = 200) -> Any:
        """PATCH, and expect this status."""
        return self._expect(self.ask("PATCH", path, body), status)

    def put(self, path: str, body: Any, status: int = 200) -> Any:
        """PUT, and expect this status."""
        return self._expect(self.ask("PUT", path, body), status)

    def refused(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        """Status and error code of a refused request."""
        response = self.ask(method, path, body)
        return response.status_code, response.json["error"]["code"] if response.json else ""

    @staticmethod
    def _expect(response: TestResponse, status: int) -> Any:
        assert response.status_code == status, f"{response.status_code}: {response.get_data(as_text=True)[:500]}"
        return response.json


class AppServer:
    """The server under test; `api` makes clients, `advance` moves its clock, `run_worker` runs its jobs."""

    def __init__(
        self,
        database_url: str,
        folder: Path,
        *,
        fresh: bool = True,
        seed: str = "office",
        monotonic: MonotonicClock = monotonic_clock,
        **settings: Any,
    ) -> None:
        """`monotonic` is the clock by which caches forget."""
        self.now = EVENING
        self.url, self.folder = database_url, folder
        self.entropy = seeded_entropy(f"{seed} {fresh}")
        key = folder / "master.key"
        key.write_text("11" * 32)
        config = check({"database_url": database_url, "master_key_file": key, "log_level": "error"} | settings)
        self.runtime = build_runtime(config, clock=lambda: self.now, entropy=self.entropy, monotonic=monotonic)
        self.parts, self.database = self.runtime.parts, self.runtime.parts.database
        if not config.embedded and schema.current(self.database.engine) is None:  # not a copy of the migrated template
            schema.upgrade(self.database.engine)
        prepare_database(self.runtime)
        self.app = web_app(self.runtime)
        self._listener: StreamsListener | None = None

    def close(self) -> None:
        self.runtime.close()
        if self._listener is not None:
            self._listener.thread.join()

    @property
    def listener(self) -> StreamsListener:
        """The streams listener of this server, started when it is first needed."""
        if self._listener is None:
            self._listener = start_listener(self.parts, self.app)
        return self._listener

    def redirect_streams(self) -> None:
        """Let requests that wait be redirected to the streams listener, as `serve` does."""
        redirect_streams(self.parts, self.listener.port)

    def advance(self, ms: int) -> None:
        self.now += ms

    def context(self) -> ActionContext:
        return ActionContext(SYSTEM, self.now, self.entropy)

    def run_worker(self) -> None:
        """Run each job of the worker once."""
        Worker(self.parts).run_once()

    def organisation(self, slug: str) -> str:
        with self.database.writing() as session:
            row = people.create_organisation(
                session, name=slug.title(), slug=slug, currency="EUR", context=self.context()
            )
            return row.id

    def api(self, organisation_id: str, scopes: Iterable[str] = ALL_SCOPES) -> ApiClient:
        """A client with an API token of that organisation; by default with every scope."""
        with self.database.writing() as session:
            _, token = tokens.make_token(
                session,
                organisation_id,
                name="api",
                scopes=list(scopes),
                ends_at=None,
                by=None,
                context=self.context(),
            )
        return ApiClient(self.app.test_client(), {"Authorization": f"Bearer {token}"})

    def user(self, email: str, organisation_id: str | None = None, role: str = "staff", platform: str = "") -> str:
        """Create a user with PASSWORD; return the id."""
        with self.database.writing() as session:
            return a_login(
                session, email, self.context(), organisation_id=organisation_id, role=role, platform=platform
            )

    def give_role(self, organisation_id: str, user_id: str, role: str) -> None:
        """Make a user a member in this role, without an invitation."""
        with self.database.writing() as session:
            members.give_role(session, organisation_id, user_id, role, self.context())

    def browser(self, email: str) -> ApiClient:
        """A client that signed in with a browser session."""
        client = self.app.test_client()
        response = client.post("/api/session", json={"email": email, "password": PASSWORD})
        assert response.status_code == 200, response.get_data(as_text=True)
        return ApiClient(client, {"X-CSRF-Token": response.json["csrf_token"]} if response.json else {})

    def event_key(self, number: int) -> EventKey:
        """The key of the event with that number."""
        with self.database.reading() as session:
            return session.execute(select(EventRecord).where(EventRecord.number == number)).scalar_one().key

    def gate_rows(self, event_number: int) -> list[AnyRow]:
        """Everything that gates hold of an event; its digest is checked on the way."""
        event = self.event_key(event_number)
        with self.database.reading() as session:
            rows = revisions.frame_rows(session, event, 0, 0, 100_000)
            head = revisions.head(session, event)
        assert head is not None and digest_add(EMPTY_DIGEST, *rows) == head.digest
        return [unpack(row) for row in rows]

    def gate_rows_of(self, event_number: int, kind: RowKind) -> list[Any]:
        """The rows of one kind."""
        event = self.event_key(event_number)
        with self.database.reading() as session:
            rows = revisions.frame_rows(session, event, 0, 0, 100_000)
        return [unpack(row) for row in rows if row.kind is kind]

    def key_ring(self, event_number: int) -> KeyRing:
        """The keys as a gate of this event has them."""
        rows: list[KeyRow] = self.gate_rows_of(event_number, RowKind.KEY)
        keys = (TicketKey.of(row.id, row.organisation, row.public, row.state) for row in rows)
        return KeyRing.of(keys, {event_number})


@dataclass
class Concert:
    """An event with its venue, ready to issue tickets."""

    api: ApiClient
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
        return self.api.post(f"{self.path}/tickets", a_ticket_request(**changed), status)

    def ticket(self, **changed: Any) -> dict[str, Any]:
        """One ticket of the first type."""
        made: dict[str, Any] = self.issue(**changed)["items"][0]
        return made

    def code(self, ticket: dict[str, Any]) -> str:
        """What is printed on it."""
        return str(self.api.get(f"/api/tickets/{ticket['id']}/code")["code"])


def a_concert(api: ApiClient, *, kind: dict[str, Any] | None = None, **changed: Any) -> Concert:
    """A venue, an event and one ticket type."""
    venue = api.post("/api/venues", a_venue())
    event = api.post("/api/events", an_event(venue["id"], **changed))
    concert = Concert(api, venue, event)
    api.post(f"{concert.path}/ticket-types", kind or a_ticket_type())
    return concert
