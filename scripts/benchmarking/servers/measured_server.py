"""A real server on loopback for a benchmark, with its own port, database and demo organisation."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import text

from scripts.benchmarking.meters.cpu_time import cpu_seconds, cpu_seconds_since
from scripts.local_stack.layout import ROOT, StackLayout
from scripts.local_stack.organiser import Organiser
from scripts.local_stack.programs import is_server_ready, run_command
from scripts.private_services.postgres import PostgresServer
from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port
from sync_server.config import load
from sync_server.plumbing.event_key import EventKey
from sync_server.runtime import ServerRuntime, build_runtime

POSTGRES_PROCESSES = 2
IDLE_S = 0.1
"""CPU seconds per second below which a server counts as idle."""
IDLE_WITHIN_S = 60
RELAYED_WITHIN_S = 30
_UNRELAYED = "SELECT 1 FROM outbox WHERE position IS NULL LIMIT 1"


@dataclass(frozen=True, slots=True)
class MeasuredLayout(StackLayout):
    """A stack whose database may be PostgreSQL."""

    database_url: str = ""
    mail_url: str = ""

    @property
    def metrics_port(self) -> int:
        """The port of the first process's metrics: the streams have the one before it."""
        return self.port + 2

    @property
    def metrics_address(self) -> str:
        """URL of those metrics."""
        return f"http://{LOOPBACK}:{self.metrics_port}"

    @property
    def environment(self) -> dict[str, str]:
        """The server's settings."""
        quiet = {"GATEHOUSE_LOG_LEVEL": "error", "GATEHOUSE_METRICS_ADDRESS": f"{LOOPBACK}:{self.metrics_port}"}
        chosen = {"GATEHOUSE_DATABASE_URL": self.database_url, "GATEHOUSE_MAIL_URL": self.mail_url}
        chosen = {name: value for name, value in chosen.items() if value}
        return {**StackLayout.environment.fget(self), **chosen, **quiet}  # type: ignore[attr-defined]  # mypy takes it for a plain value


@dataclass
class MeasuredServer:
    """A server that is first filled from this process and then served by its own processes."""

    layout: MeasuredLayout
    cleanup: ExitStack
    demo: dict[str, Any] = field(default_factory=dict)
    programs: dict[str, int] = field(default_factory=dict)  # process ids

    @property
    def organiser(self) -> Organiser:
        """An API client of the demo organisation."""
        return Organiser(self.layout.address, self.demo["api_token"])

    @property
    def event(self) -> int:
        """The number of the demo event."""
        return int(self.demo["event"]["number"])

    @property
    def event_key(self) -> EventKey:
        """What names the demo event's rows."""
        return EventKey(self.demo["organisation"]["id"], self.demo["event"]["id"])

    def create(self) -> None:
        """Create the schema and the demo organisation, as an operator does."""
        if self.layout.database_url:
            run_command(self.layout, self.layout.server_command("key", "master"))
        run_command(self.layout, self.layout.server_command("migrate"))
        (self.demo,) = run_command(self.layout, self.layout.server_command("demo", "--json"))

    @contextmanager
    def runtime(self) -> Iterator[ServerRuntime]:
        """The server's services in this process, to fill its tables faster than over HTTP."""
        runtime = build_runtime(load(self.layout.environment))
        try:
            yield runtime
        finally:
            runtime.close()

    def serve(self) -> Child:
        """Start the server; on PostgreSQL as several processes and a separate worker."""
        processes = ["--processes", str(POSTGRES_PROCESSES)] if self.layout.database_url else []
        server = self._child("server", "serve", "--port", str(self.layout.port), *processes)
        server.start()
        self.cleanup.callback(server.stop)
        server.wait_until(lambda: is_server_ready(self.layout))
        if self.layout.database_url:
            worker = self._child("worker", "worker")
            worker.start()
            self.cleanup.callback(worker.stop)
            self.programs["worker"] = worker.pid
        self.programs["server"] = server.pid
        return server

    def until_idle(self) -> None:
        """Wait until a worker that was started last has loaded its program, and nothing that was prepared is due."""
        for _ in range(IDLE_WITHIN_S):
            before = cpu_seconds(self.programs)
            time.sleep(1)
            if sum(cpu_seconds_since(before, self.programs).values()) < IDLE_S:
                return

    def until_relayed(self) -> None:
        """Wait until no fact waits for the relay: what it costs belongs to whoever caused it."""
        until = time.monotonic() + RELAYED_WITHIN_S
        with self.runtime() as runtime, runtime.parts.database.autocommit_reading() as session:
            while session.execute(text(_UNRELAYED)).first() is not None:
                if time.monotonic() > until:
                    raise RuntimeError(f"facts are not relayed within {RELAYED_WITHIN_S} seconds")
                time.sleep(0.02)

    def new_device(self, name: str, gate: int = 1) -> str:
        """Create a device at the demo event; return its enrolment code."""
        organiser = self.organiser
        device = organiser.post("/api/devices", {"name": name})
        assignment = {"event_id": self.demo["event"]["id"], "gate": gate}
        organiser.put(f"/api/devices/{device['id']}/assignments", {"assignments": [assignment]})
        return str(organiser.post(f"/api/devices/{device['id']}/code")["code"])

    def _child(self, name: str, *arguments: str) -> Child:
        command = [sys.executable, "-m", "sync_server", *arguments]
        log = self.layout.folder / f"{name}.log"
        return Child(f"The {name}", command, log, self.layout.environment, folder=ROOT, stop_timeout=15)


@contextmanager
def measured_server(database: str, *, mail_url: str = "") -> Iterator[MeasuredServer]:
    """A server on `sqlite` or `postgresql` with its demo organisation, not started yet; it may send mails."""
    with ExitStack() as cleanup:
        folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="gatehouse-bench-")))
        postgres = _postgres(cleanup) if database == "postgresql" else None
        url = postgres.new_database() if postgres else ""
        programs = {"database": postgres.pid} if postgres else {}
        server = MeasuredServer(
            MeasuredLayout(folder, free_port(), free_port(), url, mail_url), cleanup, programs=programs
        )
        server.create()
        yield server


def _postgres(cleanup: ExitStack) -> PostgresServer:
    """A durable cluster: a commit reaches the disk, as in production."""
    postgres = PostgresServer(durable=True)
    cleanup.callback(postgres.remove)
    postgres.create()
    postgres.start()
    return postgres


def analyse(server: MeasuredServer) -> None:
    """Run ANALYZE: statistics of empty tables mislead the planner."""
    with server.runtime() as runtime, runtime.parts.database.engine.connect() as connection:
        connection.exec_driver_sql("ANALYZE")
        connection.commit()
