"""A real server process on loopback: its own port, database and demo organisation, and nothing left at the end."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.house.organiser import Organiser
from scripts.house.place import ROOT, Place
from scripts.house.programs import ask, is_ready
from scripts.processes.child import Child
from scripts.processes.ports import free_port
from scripts.throwaway.postgres import PostgresServer
from sync_server.app import Ground, build
from sync_server.config import load

POSTGRES_PROCESSES = 2


@dataclass(frozen=True, slots=True)
class MeasuredPlace(Place):
    """A place whose database may be PostgreSQL."""

    database_url: str = ""

    @property
    def environment(self) -> dict[str, str]:
        """The settings of its programs."""
        quiet = {"GATEHOUSE_LOG_LEVEL": "error"}
        chosen = {"GATEHOUSE_DATABASE_URL": self.database_url} if self.database_url else {}
        return {**Place.environment.fget(self), **chosen, **quiet}  # type: ignore[attr-defined]  # mypy takes it for a value


@dataclass
class MeasuredServer:
    """First filled from within this process, then served by processes of its own."""

    place: MeasuredPlace
    ends: ExitStack
    made: dict[str, Any] = field(default_factory=dict)
    programs: dict[str, int] = field(default_factory=dict)  # process ids

    @property
    def organiser(self) -> Organiser:
        """Speaks for the demo organisation."""
        return Organiser(self.place.address, self.made["api_token"])

    @property
    def event(self) -> int:
        """The number of the demo event."""
        return int(self.made["event"]["number"])

    def found(self) -> None:
        """Makes the schema and the demo organisation, as an operator does."""
        if self.place.database_url:
            ask(self.place, self.place.server_command("key", "master"))
        ask(self.place, self.place.server_command("migrate"))
        (self.made,) = ask(self.place, self.place.server_command("demo", "--json"))

    @contextmanager
    def ground(self) -> Iterator[Ground]:
        """The server's own parts in this process, to fill its tables faster than over HTTP."""
        ground = build(load(self.place.environment))
        try:
            yield ground
        finally:
            ground.close()

    def serve(self) -> Child:
        """From now on it answers; with PostgreSQL as several processes and a worker beside them."""
        processes = ["--processes", str(POSTGRES_PROCESSES)] if self.place.database_url else []
        server = self._child("server", "serve", "--port", str(self.place.port), *processes)
        server.start()
        self.ends.callback(server.stop)
        server.wait_until(lambda: is_ready(self.place))
        if self.place.database_url:
            worker = self._child("worker", "worker")
            worker.start()
            self.ends.callback(worker.stop)
            self.programs["worker"] = worker.pid
        self.programs["server"] = server.pid
        return server

    def new_device(self, name: str, gate: int = 1) -> str:
        """A device that stands at the demo event; answers its enrolment code."""
        organiser = self.organiser
        device = organiser.post("/api/devices", {"name": name})
        post = {"event_id": self.made["event"]["id"], "gate": gate}
        organiser.put(f"/api/devices/{device['id']}/assignments", {"assignments": [post]})
        return str(organiser.post(f"/api/devices/{device['id']}/code")["code"])

    def _child(self, name: str, *words: str) -> Child:
        command = [sys.executable, "-m", "sync_server", *words]
        log = self.place.folder / f"{name}.log"
        return Child(f"The {name}", command, log, self.place.environment, folder=ROOT, patience=15)


@contextmanager
def measured_server(database: str) -> Iterator[MeasuredServer]:
    """A server on `sqlite` or `postgresql` with its demo organisation, not serving yet."""
    with ExitStack() as ends:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="gatehouse-bench-")))
        postgres = _postgres(ends) if database == "postgresql" else None
        url = postgres.new_database() if postgres else ""
        programs = {"database": postgres.pid} if postgres else {}
        server = MeasuredServer(MeasuredPlace(folder, free_port(), free_port(), url), ends, programs=programs)
        server.found()
        yield server


def _postgres(ends: ExitStack) -> PostgresServer:
    """A cluster that really writes: what is committed is on the disk, as at a customer's."""
    postgres = PostgresServer(durable=True)
    ends.callback(postgres.remove)
    postgres.create()
    postgres.start()
    return postgres


def analyse(server: MeasuredServer) -> None:
    """Tables that were analysed while empty mislead the planner."""
    with server.ground() as ground, ground.parts.database.engine.connect() as connection:
        connection.exec_driver_sql("ANALYZE")
        connection.commit()
