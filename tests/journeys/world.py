"""A whole installation in one process: a server on a real database, an organiser's API client, and gates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from sync_server.accounts import service as people
from sync_server.accounts import tokens
from sync_server.app import web_app
from sync_server.commands import backups
from sync_server.config import check
from sync_server.migrations import schema
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import SYSTEM, Action, ActionContext
from sync_server.runtime import ServerRuntime, build_runtime, prepare_database
from sync_server.scans import queries
from sync_server.scans.attendance.inside import occupancy
from sync_server.workers import Worker
from tests.builders import a_venue, an_event
from tests.gate_builders import EVENING, HOUR, Hands
from tests.journeys.network_link import NetworkLink
from tests.journeys.simulated_gate import SimulatedGate

PIN = "271828"
SINGLE = {"name": "Single", "price_cents": 3500, "quantity": 2_000}


@dataclass(frozen=True, slots=True)
class EventRef:
    """An event: its id in the API and its number on tickets."""

    id: str
    number: int


@dataclass(frozen=True, slots=True)
class Sold:
    """A sold ticket and its code."""

    id: str
    number: str
    code: str


class World:
    """Server, organiser and gates; time stands still until `advance`, the network works until `cut_network`."""

    def __init__(self, database_url: str, folder: Path, **settings: str) -> None:
        self.now = EVENING
        self.folder = folder
        self.gates: dict[str, SimulatedGate] = {}
        self._settings = {
            "DATABASE_URL": database_url,
            "MASTER_KEY_FILE": str(folder / "master.key"),
            "LOG_LEVEL": "error",
            **{name.upper(): value for name, value in settings.items()},
        }
        (folder / "master.key").write_text("11" * 32)
        self._entropy = seeded_entropy("world")
        self.runtime: ServerRuntime | None = None
        self.app: Flask | None = None
        self.start_server(fresh=True)
        self.organisation, self._token = self._create_organisation()
        self._post("/api/supervisors", {"name": "Sam", "pin": PIN})
        self.venue = self._post("/api/venues", a_venue())["id"]
        self.gate_numbers = {name: self._create_venue_gate(name) for name in ("A", "B", "C")}
        self.event = self.create_event("Night Music")

    # -- the server ----------------------------------------------------------------------------------------------------

    def start_server(self, *, fresh: bool = False) -> None:
        """Start a server on the database, as a new process would."""
        config = check({name.lower(): value for name, value in self._settings.items()})
        self.runtime = build_runtime(config, clock=lambda: self.now, entropy=self._entropy)
        if fresh:
            schema.upgrade(self.runtime.parts.database.engine)
        prepare_database(self.runtime)
        self.app = web_app(self.runtime)

    def stop_server(self) -> None:
        """Stop the server."""
        if self.runtime is not None:
            self.runtime.close()
        self.runtime = self.app = None

    def close(self) -> None:
        """Switch off all gates and the server."""
        for gate in self.gates.values():
            gate.switch_off()
        self.stop_server()

    def back_up(self, name: str = "backup") -> Path:
        """Make a backup as the operator does, while the server runs."""
        file = self.folder / name
        self._operator(lambda: backups.backup(file))
        return file

    def restore(self, file: Path) -> None:
        """Restore a backup as the operator does: stop, restore, start."""
        self.stop_server()
        self._operator(lambda: backups.restore(file))
        self.start_server()

    def work(self) -> None:
        """Run the worker's due jobs."""
        Worker(self.parts).run_once()

    @property
    def parts(self) -> Any:
        """The services of the running server."""
        assert self.runtime is not None, "the server is stopped"
        return self.runtime.parts

    def _operator(self, act: Callable[[], None]) -> None:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self._settings.items():
                patch.setenv(f"GATEHOUSE_{name}", value)
            act()

    # -- time and network ----------------------------------------------------------------------------------------------

    def advance(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0) -> None:
        """Advance the clocks of the server and all gates."""
        ms = int((seconds + 60 * minutes + 3600 * hours) * 1000)
        self.now += ms
        for gate in self.gates.values():
            gate.hands.pass_ms(ms)

    def cut_network(self, *gates: SimulatedGate) -> None:
        """Disconnect these gates, or all gates."""
        for gate in gates or self.gates.values():
            gate.link.connected = False

    def mend_network(self, *gates: SimulatedGate) -> None:
        """Reconnect these gates, or all gates, without faults."""
        for gate in gates or self.gates.values():
            gate.link.connected, gate.link.fault = True, None

    # -- the organiser -------------------------------------------------------------------------------------------------

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send an API request; a refusal fails the test with the server's response."""
        assert self.app is not None, "the server is stopped"
        headers = {"Authorization": f"Bearer {self._token}"}
        response = self.app.test_client().open(path, method=method, json=body, headers=headers)
        assert response.status_code < 400, f"{method} {path}: {response.status_code} {response.text}"
        return response.json

    def _post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self.ask("POST", path, body or {})

    def create_event(self, name: str, *, live: bool = True, **fields: Any) -> EventRef:
        """Create and publish an event for today with gates A, B and C; live by default."""
        times = {"start_at": iso(self.now + HOUR), "end_at": iso(self.now + 6 * HOUR)}
        made = self._post("/api/events", an_event(self.venue, name=name, **times, **fields))
        event = EventRef(made["id"], made["number"])
        self._post(f"/api/events/{event.id}/ticket-types", SINGLE)
        self.change_event("publish", event)
        if live:
            self.change_event("go-live", event)
        return event

    def change_event(self, what: str, event: EventRef | None = None, **fields: Any) -> None:
        """Change the status of an event: publish, go-live, cancel, postpone …"""
        self._post(f"/api/events/{(event or self.event).id}/{what}", fields)

    def sell(self, count: int = 1, *, event: EventRef | None = None, **fields: Any) -> list[Sold]:
        """Issue so many tickets."""
        body = {"ticket_type": 1, "count": count, **fields}
        made = self._post(f"/api/events/{(event or self.event).id}/tickets", body)["items"]
        return [Sold(one["id"], one["number"], self.code(one["id"])) for one in made]

    def sell_one(self, *, event: EventRef | None = None) -> Sold:
        """Issue one ticket."""
        (sold,) = self.sell(1, event=event)
        return sold

    def code(self, ticket_id: str) -> str:
        """The ticket's current code."""
        return str(self.ask("GET", f"/api/tickets/{ticket_id}/code")["code"])

    def change_ticket(self, what: str, ticket: Sold) -> None:
        """Change the status of a ticket: cancel, block, unblock or reissue."""
        self._post(f"/api/tickets/{ticket.id}/{what}", {"reason": "The guest asked for it."})

    def revoke(self, gate: SimulatedGate) -> None:
        """Revoke the gate's device."""
        self._post(f"/api/devices/{gate.device_id}/revoke", {"reason": "lost"})

    def accept_late(self, gate: SimulatedGate) -> int:
        """Accept the late entries of a revoked device, as an admin."""
        note = {"note": "The crew was there."}
        return int(self._post(f"/api/devices/{gate.device_id}/late-entries/accept", note)["accepted"])

    # -- the gates -----------------------------------------------------------------------------------------------------

    def gate(self, name: str = "A", *, event: EventRef | None = None, **work: Any) -> SimulatedGate:
        """The gate of that name, enrolled and synced when it is first asked for."""
        if name not in self.gates:
            self.gates[name] = self._new_gate(name, event or self.event, work)
        return self.gates[name]

    def twin_of(self, gate: SimulatedGate, image: Path) -> SimulatedGate:
        """Another machine that runs from a copy of the gate's card."""
        twin = SimulatedGate(f"{gate.name}'s twin", image, Hands(self.now), self._link(), gate.device_id, b"another1")
        twin.switch_on()
        self.gates[twin.name] = twin
        return twin

    def _new_gate(self, name: str, event: EventRef, work: Mapping[str, Any]) -> SimulatedGate:
        device = self._post("/api/devices", {"name": f"Gate {name}"})
        assignment = {"event_id": event.id, "gate": self.gate_numbers[name], **work}
        self.ask("PUT", f"/api/devices/{device['id']}/assignments", {"assignments": [assignment]})
        gate = SimulatedGate(name, self.folder / f"gate-{name}", Hands(self.now), self._link(), device["id"])
        gate.enrol(self._post(f"/api/devices/{device['id']}/code")["code"])
        result = gate.sync()
        assert "error" not in result, result
        return gate

    def _link(self) -> NetworkLink:
        return NetworkLink(lambda: self.app)

    def _create_venue_gate(self, name: str) -> int:
        return int(self._post(f"/api/venues/{self.venue}/gates", {"code": name, "name": f"Gate {name}"})["number"])

    # -- the server's view --------------------------------------------------------------------------------

    def conflicts(self, event: EventRef | None = None) -> list[str]:
        """The kinds of the open conflicts."""
        return [str(row.kind) for row in self.conflict_rows(event)]

    def conflict_rows(self, event: EventRef | None = None) -> list[Any]:
        """The rows of the open conflicts."""
        with self.parts.database.reading() as session:
            return list(queries.open_conflicts(session, self._key(event)))

    def counts(self, event: EventRef | None = None) -> dict[str, int]:
        """The number of presentations in real mode by reason."""
        counts: dict[str, int] = {}
        with self.parts.database.reading() as session:
            for one in queries.counts(session, self._key(event)):
                counts[one.reason] = counts.get(one.reason, 0) + one.n
        return counts

    def inside(self, event: EventRef | None = None) -> int:
        """The occupancy by the server's count."""
        with self.parts.database.reading() as session:
            return occupancy(session, self._key(event), 0).inside

    def _key(self, event: EventRef | None) -> EventKey:
        return EventKey(self.organisation, (event or self.event).id)

    def journal_of(self, gate: SimulatedGate) -> queries.JournalState:
        """The server's state of a gate's journal."""
        with self.parts.database.reading() as session:
            return queries.journal_states(session, self.organisation)[gate.number]

    def _create_organisation(self) -> tuple[str, str]:
        context = ActionContext(SYSTEM, self.now, self._entropy)
        scopes = [action.value for action in Action]
        with self.parts.database.writing() as session:
            row = people.create_organisation(
                session, name="Harbour Ltd", slug="harbour", currency="EUR", context=context
            )
            _, token = tokens.make_token(
                session, row.id, name="story", scopes=scopes, ends_at=None, by=None, context=context
            )
            return row.id, token


def iso(moment: int) -> str:
    """A time in the API's format."""
    return datetime.fromtimestamp(moment / 1000, UTC).isoformat()


def seeded_entropy(seed: str) -> Callable[[int], bytes]:
    """Entropy of any size that is the same in every run."""
    numbers = count()

    def draw(size: int) -> bytes:
        blocks = (sha256(f"{seed} {next(numbers)}".encode()).digest() for _ in range(-(-size // 32)))
        return b"".join(blocks)[:size]

    return draw
