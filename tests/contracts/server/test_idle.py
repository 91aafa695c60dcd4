"""A server and its worker that nobody uses: no table is asked more often than every five seconds.

The clock, the timers and the threads are real. Statements are counted, and nothing is timed: of a table that is asked
every five seconds there are four at most in fifteen.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlglot
from sqlalchemy import event
from sqlglot import exp

from shared.clock import wall_clock
from sync_server.app import web_app
from sync_server.config import check
from sync_server.plumbing.parts import Parts
from sync_server.runtime import build_runtime, prepare_database
from sync_server.workers import Worker
from tests.at_work import at_work
from tests.contracts.facts.memory import eventually

WINDOW_S, EVERY_S = 15, 5
SETTINGS = {"log_level": "error", "mail_url": "smtp://127.0.0.1:9", "base_url": "https://tickets.example"}


@contextmanager
def idle_server(database_url: str, folder: Path) -> Iterator[Parts]:
    """All that one process runs that serves and works; it can be reached by nobody."""
    key = folder / "master.key"
    key.write_text("11" * 32)
    given = {"database_url": database_url, "master_key_file": key, "archives_folder": folder / "archives"}
    runtime = build_runtime(check(SETTINGS | given), clock=wall_clock, entropy=os.urandom)
    prepare_database(runtime)
    web_app(runtime)
    parts = runtime.parts
    finish_first_jobs(parts)
    loops = [threading.Thread(target=loop, args=(parts.stop,)) for loop in (*parts.backends.loops, *parts.loops)]
    for loop in loops:
        loop.start()
    with at_work(parts):
        yield parts
    parts.stop.set()
    runtime.close()
    for loop in loops:
        loop.join(60)


def finish_first_jobs(parts: Parts) -> None:
    """Run what every start leaves to the worker, such as the nightly check, until it says that nothing is left."""
    worker, before = Worker(parts), -1.0
    while (runs := runs_of_nightly_check(parts)) != before:
        before = runs
        worker.run_once()


def runs_of_nightly_check(parts: Parts) -> float:
    count = parts.metrics.registry.get_sample_value("gatehouse_job_seconds_count", {"job": "monitoring.nightly"})
    return count or 0.0


@contextmanager
def statements_of(parts: Parts) -> Iterator[list[str]]:
    """Every statement that is sent from now on."""
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        sent.append(statement)

    event.listen(parts.database.engine, "before_cursor_execute", note)
    yield sent
    event.remove(parts.database.engine, "before_cursor_execute", note)


def tables(statement: str, dialect: str) -> set[str]:
    """The tables that a statement names, each once."""
    return {table.name for table in sqlglot.parse_one(statement, dialect=dialect).find_all(exp.Table)}


def test_no_table_is_asked_more_often_than_every_five_seconds(database_url: str, tmp_path: Path) -> None:
    with idle_server(database_url, tmp_path) as parts:
        eventually(parts.backends.in_touch, "processes hear each other")
        dialect = "sqlite" if parts.database.embedded else "postgres"
        with statements_of(parts) as sent:
            threading.Event().wait(WINDOW_S)
        asked = Counter(table for statement in sent for table in tables(statement, dialect))
        jobs_that_look = {"outbox", "event_heads", "audit_lines", "queue_entries"}
        assert asked.keys() & jobs_that_look, "the worker is at work, and its statements are seen"
        assert {table: count for table, count in asked.items() if count > WINDOW_S // EVERY_S + 1} == {}
