"""What becomes of requests when the database is crowded, frozen, in a deadlock, full, or asked for too much."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from scripts.private_services.postgres import PostgresServer
from sync_server.events.signals import EventChanged
from sync_server.plumbing.database import open_engine
from sync_server.plumbing.sql.connecting import Limits
from sync_server.plumbing.sql.failures import Failure, failure_of, refusal
from tests.app_server import AppServer, a_concert


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """A server that no other test uses at the same time."""
    server = PostgresServer()
    server.create()
    server.start()
    yield server
    server.remove()


@pytest.fixture
def alone(own_postgres: PostgresServer, tmp_path: Path) -> Iterator[AppServer]:
    made = AppServer(own_postgres.new_database(), tmp_path)
    yield made
    made.close()


def test_whoever_loses_a_deadlock_is_served_all_the_same(alone: AppServer) -> None:
    """The change holds the event and wants its venue; somebody else holds the venue and wants the event."""
    concert = a_concert(alone.api(alone.organisation("marquee")))
    url = alone.database.engine.url.render_as_string(hide_password=False)
    tries: list[int] = []
    with psycopg.connect(url) as other, ThreadPoolExecutor(1) as pool:
        other.execute("SET deadlock_timeout = '1h'")  # so that the change is the one that has to give way
        other.execute("SELECT 1 FROM venues FOR UPDATE")

        def cross(session: Session, _event: EventChanged) -> None:
            tries.append(len(tries))
            if len(tries) == 1:
                waiting.append(pool.submit(other.execute, "SELECT 1 FROM events FOR UPDATE"))
                session.execute(text("SELECT 1 FROM venues FOR UPDATE"))

        waiting: list[object] = []
        alone.database.signals.on(EventChanged, cross)
        changing = threading.Thread(target=lambda: concert.api.patch(concert.path, {"description": "With a choir"}))
        changing.start()
        while not waiting:
            changing.join(0.01)
        waiting[0].result()  # type: ignore[attr-defined]
        other.rollback()
        changing.join()
    assert tries == [0, 1]
    assert concert.api.get(concert.path)["description"] == "With a choir"
    assert len(concert.api.get("/api/audit?action=event_updated")["items"]) == 1


def test_requests_wait_while_all_connections_are_taken(alone: AppServer) -> None:
    concert = a_concert(alone.api(alone.organisation("marquee")))
    url = alone.database.engine.url.render_as_string(hide_password=False)
    alone.database.engine.dispose()
    with ExitStack() as crowd, ThreadPoolExecutor(1) as pool:
        while True:
            try:
                latest = crowd.enter_context(psycopg.connect(url))
            except psycopg.OperationalError:
                break
        asked = pool.submit(concert.api.ask, "GET", concert.path)
        with pytest.raises(TimeoutError):
            asked.result(timeout=0.5)
        latest.close()
        assert asked.result().status_code == 200


def test_readiness_says_no_while_the_database_is_frozen(alone: AppServer, own_postgres: PostgresServer) -> None:
    client = alone.app.test_client()
    assert client.get("/readyz").status_code == 200
    frozen = [
        own_postgres.pid,
        *map(int, Path(f"/proc/{own_postgres.pid}/task/{own_postgres.pid}/children").read_text().split()),
    ]
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    try:
        answers = [client.get("/readyz") for _ in range(2)]
        assert [(one.status_code, one.json["database"]) for one in answers if one.json] == [(503, "no answer")] * 2
        assert client.get("/healthz").status_code == 200
        assert sum(thread.name == "readiness" for thread in threading.enumerate()) == 1
    finally:
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)
    assert client.get("/readyz").status_code == 200


@pytest.mark.parametrize(
    ("statement", "failure"),
    [
        ("SELECT pg_sleep(30)", Failure.SLOW),
        ("SELECT 1 FROM held FOR UPDATE", Failure.BUSY),
        ("INSERT INTO held VALUES (1)", Failure.CONFLICT),
        ("SELECT nothing FROM nowhere", Failure.OURS),
        ("SELECT pg_terminate_backend(pg_backend_pid())", Failure.AWAY),
        ("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$", Failure.CONFLICT),
        ("DO $$ BEGIN RAISE SQLSTATE '53100'; END $$", Failure.FULL),
        ("DO $$ BEGIN RAISE SQLSTATE '53300'; END $$", Failure.CROWDED),
    ],
)
def test_postgresql_errors_are_told_apart(empty_postgres_url: str, statement: str, failure: Failure) -> None:
    engine = open_engine(empty_postgres_url, limits=Limits(statement_s=2, lock_s=1, idle_s=60))
    with engine.begin() as holding:
        holding.execute(text("CREATE TABLE held (id int PRIMARY KEY)"))
        holding.execute(text("INSERT INTO held VALUES (1)"))
    with engine.begin() as holding, engine.connect() as asking:
        holding.execute(text("SELECT 1 FROM held FOR UPDATE"))
        with pytest.raises(DBAPIError) as raised:
            asking.exec_driver_sql(statement)
        asking.invalidate()
    assert failure_of(raised.value) is failure
    engine.dispose()


@pytest.mark.parametrize(
    ("statement", "failure"),
    [
        ("INSERT INTO held VALUES (2)", Failure.BUSY),
        ("SELECT nothing FROM nowhere", Failure.OURS),
    ],
)
def test_sqlite_errors_are_told_apart(tmp_path: Path, statement: str, failure: Failure) -> None:
    with sqlite3.connect(tmp_path / "held.db") as holding:
        holding.execute("CREATE TABLE held (id int PRIMARY KEY)")
        holding.commit()
        holding.execute("BEGIN IMMEDIATE")
        with sqlite3.connect(tmp_path / "held.db", timeout=0) as asking, pytest.raises(sqlite3.Error) as raised:
            asking.execute(statement)
    assert failure_of(raised.value) is failure


def test_a_full_disk_is_called_one(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "small.db") as small:
        small.execute("CREATE TABLE rows (bytes blob)")
        small.execute("PRAGMA max_page_count = 4")
        with pytest.raises(sqlite3.Error) as raised:
            small.execute("INSERT INTO rows VALUES (zeroblob(100000))")
    assert failure_of(raised.value) is Failure.FULL
    told = refusal(Failure.FULL)
    assert (told.status, told.error_code) == (503, "database_full") and "disk is full" in told.message
