"""The server behind PgBouncer with the settings of docs/operate.md: each transaction gets another connection."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from configparser import ConfigParser
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from scripts.local_stack.layout import ROOT, StackLayout
from scripts.local_stack.main_job import STEPS, MainJob
from scripts.private_services.pgbouncer import PgBouncerServer
from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port
from scripts.processes.streams_address import opened_stream
from shared.errors import Conflict
from sync_server.commands import postgres_backups
from sync_server.commands.doctor import examine
from sync_server.config import check
from sync_server.plumbing.sql.autocommit import AutocommitPool, Pooler, numbered
from tests.services.optional_services import start_or_fail

SETTING = numbered("SELECT current_setting('enable_seqscan')")


def documented_settings() -> dict[str, str]:
    text = (ROOT / "docs" / "operate.md").read_text()
    found = re.search(r"```ini\n(.*?)```", text, re.DOTALL)
    assert found is not None
    read = ConfigParser(interpolation=None)
    read.read_string(found[1])
    return dict(read["pgbouncer"])


@pytest.fixture
def pooler(postgres_url: str) -> Iterator[PgBouncerServer]:
    """PgBouncer with the documented settings, but only four connections to the database."""

    def started() -> PgBouncerServer:
        made = PgBouncerServer(postgres_url, documented_settings() | {"default_pool_size": "4"})
        made.start()
        return made

    server = start_or_fail("postgresql", started)
    yield server
    server.remove()


def right_setting(pooler: PgBouncerServer) -> Pooler:
    return Pooler.TRANSACTION if pooler.prepares else Pooler.TRANSACTION_UNPREPARED


def test_settings_reach_the_statement_and_nobody_else(pooler: PgBouncerServer) -> None:
    pool = AutocommitPool(pooler.url, right_setting(pooler))
    try:
        assert [pool.row(SETTING, {}) for _ in range(8)] == [("off",)] * 8
    finally:
        pool.close()
    with psycopg.connect(pooler.url, prepare_threshold=None) as other:
        assert other.execute("SHOW enable_seqscan").fetchone() == ("on",)


def test_the_doctor_says_what_the_settings_should_be(
    pooler: PgBouncerServer, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "master.key").write_text("11" * 32)
    monkeypatch.setenv("GATEHOUSE_MASTER_KEY_FILE", str(tmp_path / "master.key"))
    monkeypatch.setenv("GATEHOUSE_DATABASE_URL", pooler.url)
    assert "GATEHOUSE_DATABASE_POOLER=transaction" in problems()["pooler"]
    monkeypatch.setenv("GATEHOUSE_DATABASE_POOLER", right_setting(pooler).value)
    assert "GATEHOUSE_LISTEN_DATABASE_URL" in problems()["settings"]
    monkeypatch.setenv("GATEHOUSE_LISTEN_DATABASE_URL", postgres_url)
    assert {part: problem for part, problem in problems().items() if problem} == {}
    if not pooler.prepares:
        monkeypatch.setenv("GATEHOUSE_DATABASE_POOLER", "transaction")
        assert "transaction_unprepared" in problems()["pooler"]


def test_a_backup_does_not_go_through_the_pooler(tmp_path: Path) -> None:
    pooled = {"database_url": "postgresql://gatehouse@pooler/gatehouse", "database_pooler": "transaction"}
    with pytest.raises(Conflict, match="GATEHOUSE_LISTEN_DATABASE_URL"):
        postgres_backups.backup(check(pooled | {"redis_url": "redis://localhost"}), tmp_path / "backup")


def problems() -> dict[str, Any]:
    return {finding["part"]: finding["problem"] for finding in examine()}


@dataclass(frozen=True, slots=True)
class PooledStack(StackLayout):
    """Two server processes that reach PostgreSQL through the pooler, and hear each other past it."""

    database: dict[str, str]

    @property
    def environment(self) -> dict[str, str]:
        return StackLayout.environment.__get__(self) | self.database

    def server_command(self, *arguments: str) -> list[str]:
        more = ["--processes", "2"] if arguments[0] == "serve" else []
        return [sys.executable, "-m", "sync_server", *arguments, *more]


def test_an_evening_from_the_event_to_the_scan(pooler: PgBouncerServer, postgres_url: str, tmp_path: Path) -> None:
    """A page of one process hears by its stream what the other has committed."""
    database = {
        "GATEHOUSE_DATABASE_URL": pooler.url,
        "GATEHOUSE_DATABASE_POOLER": right_setting(pooler).value,
        "GATEHOUSE_LISTEN_DATABASE_URL": postgres_url,
    }
    stack = PooledStack(tmp_path, free_port(), free_port(), database)
    (tmp_path / "master.key").write_text("11" * 32)
    worker = Child("The worker", stack.server_command("worker"), tmp_path / "worker.log", stack.environment, ROOT)
    with ExitStack() as running:
        job = MainJob(stack, running)
        running.callback(worker.stop)
        job.open_server()
        worker.start()
        job.announce_concert()
        stream = running.enter_context(open_page(stack, job._organiser.token))
        job.open_doors()
        assert any("event_published" in line for line in stream)
        for step in STEPS[STEPS.index(MainJob.open_doors) + 1 :]:
            step(job)
        worker.require_running()


@contextmanager
def open_page(stack: StackLayout, token: str) -> Iterator[Iterator[str]]:
    """The lines of an organiser's open stream, after its greeting."""
    address = f"{LOOPBACK}:{stack.port}"
    connection, response = opened_stream(address, "/api/live", {"Authorization": f"Bearer {token}"}, 60)
    lines = (line.decode() for line in iter(response.readline, b""))
    assert "ready" in next(line for line in lines if line.startswith("event:"))
    yield lines
    connection.close()
