"""A whole house in one process: the server on a real database, an organiser at its API, and the gates of a story."""

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
from sync_server.accounts import signing_in
from sync_server.app import Ground, build, prepare, web_of
from sync_server.commands import safety
from sync_server.config import check
from sync_server.migrations import schema
from sync_server.plumbing.principals import SYSTEM, Action
from sync_server.scans import queries
from sync_server.workers import Worker
from tests.builders import a_venue, an_event
from tests.gate_builders import EVENING, HOUR, Hands
from tests.journeys.cable import Cable
from tests.journeys.door import Door

PIN = "271828"
SINGLE = {"name": "Single", "price_cents": 3500, "quantity": 2_000}


@dataclass(frozen=True, slots=True)
class Evening:
    """One event: its id at the API, its number on tickets."""

    id: str
    number: int


@dataclass(frozen=True, slots=True)
class Sold:
    """A ticket, and the code that its guest holds."""

    id: str
    number: str
    code: str


class World:
    """Time stands still until `advance`; the network is whole until it is cut."""

    def __init__(self, database_url: str, folder: Path) -> None:
        self.now = EVENING
        self.folder = folder
        self.doors: dict[str, Door] = {}
        self._settings = {
            "DATABASE_URL": database_url,
            "MASTER_KEY_FILE": str(folder / "master.key"),
            "LOG_LEVEL": "error",
        }
        (folder / "master.key").write_text("11" * 32)
        self._dice = dice("world")
        self.ground: Ground | None = None
        self.app: Flask | None = None
        self.start_server(fresh=True)
        self.organisation, self._token = self._found()
        self._post("/api/supervisors", {"name": "Sam", "pin": PIN})
        self.venue = self._post("/api/venues", a_venue())["id"]
        self.gates = {name: self._gate_of_venue(name) for name in ("A", "B", "C")}
        self.event = self.put_on("Night Music")

    # -- the server ----------------------------------------------------------------------------------------------------

    def start_server(self, *, fresh: bool = False) -> None:
        """A new process over the same database."""
        config = check({name.lower(): value for name, value in self._settings.items()})
        self.ground = build(config, clock=lambda: self.now, entropy=self._dice)
        if fresh:
            schema.upgrade(self.ground.parts.database.engine)
        prepare(self.ground)
        self.app = web_of(self.ground)

    def stop_server(self) -> None:
        """Nobody answers any more."""
        if self.ground is not None:
            self.ground.close()
        self.ground = self.app = None

    def close(self) -> None:
        """Switch everything off."""
        for door in self.doors.values():
            door.switch_off()
        self.stop_server()

    def back_up(self, name: str = "backup") -> Path:
        """As the operator does it, while the server works."""
        file = self.folder / name
        self._operator(lambda: safety.backup(file))
        return file

    def restore(self, file: Path) -> None:
        """As the operator does it: stop, restore, start."""
        self.stop_server()
        self._operator(lambda: safety.restore(file))
        self.start_server()

    def work(self) -> None:
        """The worker does what is due."""
        Worker(self.parts).run_once()

    @property
    def parts(self) -> Any:
        """Of the server that runs."""
        assert self.ground is not None, "the server is stopped"
        return self.ground.parts

    def _operator(self, act: Callable[[], None]) -> None:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self._settings.items():
                patch.setenv(f"GATEHOUSE_{name}", value)
            act()

    # -- time and network ----------------------------------------------------------------------------------------------

    def advance(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0) -> None:
        """Time goes by, for everybody."""
        ms = int((seconds + 60 * minutes + 3600 * hours) * 1000)
        self.now += ms
        for door in self.doors.values():
            door.hands.pass_ms(ms)

    def cut_network(self, *doors: Door) -> None:
        """These gates are alone from now on; all of them where none is named."""
        for door in doors or self.doors.values():
            door.cable.connected = False

    def mend_network(self, *doors: Door) -> None:
        """The cable is back, and nothing spoils what it carries."""
        for door in doors or self.doors.values():
            door.cable.connected, door.cable.trouble = True, None

    # -- the organiser -------------------------------------------------------------------------------------------------

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Something at the API; a refusal fails the story with the server's words."""
        assert self.app is not None, "the server is stopped"
        headers = {"Authorization": f"Bearer {self._token}"}
        told = self.app.test_client().open(path, method=method, json=body, headers=headers)
        assert told.status_code < 400, f"{method} {path}: {told.status_code} {told.text}"
        return told.json

    def _post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self.ask("POST", path, body or {})

    def put_on(self, name: str, *, live: bool = True, **words: Any) -> Evening:
        """An event this evening, with gates A, B and C; live unless told otherwise."""
        times = {"start_at": iso(self.now + HOUR), "end_at": iso(self.now + 6 * HOUR)}
        made = self._post("/api/events", an_event(self.venue, name=name, **times, **words))
        event = Evening(made["id"], made["number"])
        self._post(f"/api/events/{event.id}/ticket-types", SINGLE)
        self.tell_event("publish", event)
        if live:
            self.tell_event("go-live", event)
        return event

    def tell_event(self, what: str, event: Evening | None = None, **words: Any) -> None:
        """publish, go-live, cancel, postpone …"""
        self._post(f"/api/events/{(event or self.event).id}/{what}", words)

    def sell(self, count: int = 1, *, event: Evening | None = None, **words: Any) -> list[Sold]:
        """So many tickets."""
        wish = {"ticket_type": 1, "count": count, **words}
        made = self._post(f"/api/events/{(event or self.event).id}/tickets", wish)["items"]
        return [Sold(one["id"], one["number"], self.code(one["id"])) for one in made]

    def sell_one(self, *, event: Evening | None = None) -> Sold:
        """One ticket."""
        (sold,) = self.sell(1, event=event)
        return sold

    def code(self, ticket_id: str) -> str:
        """What is printed on it by now."""
        return str(self.ask("GET", f"/api/tickets/{ticket_id}/code")["code"])

    def tell_ticket(self, what: str, ticket: Sold) -> None:
        """cancel, block, unblock, reissue."""
        self._post(f"/api/tickets/{ticket.id}/{what}", {"reason": "The guest asked for it."})

    def revoke(self, door: Door) -> None:
        """The device is shut out."""
        self._post(f"/api/devices/{door.device_id}/revoke", {"reason": "lost"})

    def accept_late(self, door: Door) -> int:
        """An admin takes the word of a shut-out device."""
        note = {"note": "The crew was there."}
        return int(self._post(f"/api/devices/{door.device_id}/late-entries/accept", note)["accepted"])

    # -- the gates -----------------------------------------------------------------------------------------------------

    def gate(self, name: str = "A", *, event: Evening | None = None, **work: Any) -> Door:
        """The gate of that name, enrolled and in step with the server when it is first asked for."""
        if name not in self.doors:
            self.doors[name] = self._new_door(name, event or self.event, work)
        return self.doors[name]

    def twin_of(self, door: Door, image: Path) -> Door:
        """Another machine that runs from a copy of this one's card."""
        twin = Door(f"{door.name}'s twin", image, Hands(self.now), self._cable(), door.device_id, b"another1")
        twin.switch_on()
        self.doors[twin.name] = twin
        return twin

    def _new_door(self, name: str, event: Evening, work: Mapping[str, Any]) -> Door:
        device = self._post("/api/devices", {"name": f"Gate {name}"})
        post = {"event_id": event.id, "gate": self.gates[name], **work}
        self.ask("PUT", f"/api/devices/{device['id']}/assignments", {"assignments": [post]})
        door = Door(name, self.folder / f"gate-{name}", Hands(self.now), self._cable(), device["id"])
        door.enrol(self._post(f"/api/devices/{device['id']}/code")["code"])
        told = door.sync()
        assert "error" not in told, told
        return door

    def _cable(self) -> Cable:
        return Cable(lambda: self.app)

    def _gate_of_venue(self, name: str) -> int:
        return int(self._post(f"/api/venues/{self.venue}/gates", {"code": name, "name": f"Gate {name}"})["number"])

    # -- what the server says of it all --------------------------------------------------------------------------------

    def conflicts(self, event: Evening | None = None) -> list[str]:
        """What somebody must look at."""
        return [str(row.kind) for row in self.conflict_rows(event)]

    def conflict_rows(self, event: Evening | None = None) -> list[Any]:
        """The same with gates and times."""
        with self.parts.database.reading() as session:
            return list(queries.open_conflicts(session, self.organisation, (event or self.event).number))

    def counts(self, event: Evening | None = None) -> dict[str, int]:
        """How often real presentations got which answer."""
        told: dict[str, int] = {}
        with self.parts.database.reading() as session:
            for one in queries.counts(session, (event or self.event).number):
                told[one.reason] = told.get(one.reason, 0) + one.n
        return told

    def inside(self, event: Evening | None = None) -> int:
        """Who is inside, as the server counts."""
        with self.parts.database.reading() as session:
            return queries.occupancy(session, (event or self.event).number, 0).inside

    def journal_of(self, door: Door) -> queries.JournalState:
        """What the server holds of a gate's journal."""
        with self.parts.database.reading() as session:
            return queries.journal_states(session, self.organisation)[door.number]

    def _found(self) -> tuple[str, str]:
        words: dict[str, Any] = {"actor": SYSTEM, "now": self.now, "entropy": self._dice}
        scopes = [action.value for action in Action]
        with self.parts.database.writing() as session:
            row = people.create_organisation(session, name="Harbour Ltd", slug="harbour", currency="EUR", **words)
            _, token = signing_in.make_token(
                session, row.id, name="story", scopes=scopes, ends_at=None, by=None, **words
            )
            return row.id, token


def iso(moment: int) -> str:
    """As the API reads times."""
    return datetime.fromtimestamp(moment / 1000, UTC).isoformat()


def dice(seed: str) -> Callable[[int], bytes]:
    """Entropy of any size that is the same in every run."""
    numbers = count()

    def throw(size: int) -> bytes:
        blocks = (sha256(f"{seed} {next(numbers)}".encode()).digest() for _ in range(-(-size // 32)))
        return b"".join(blocks)[:size]

    return throw
