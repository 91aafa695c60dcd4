"""What a server and its worker cost while nobody uses them: statements a second, and percent of a processor.

The processes are real and have their demo event; for as long as it is measured nothing happens. PostgreSQL counts every
statement of every session, those that begin and end transactions and those that test connections among them. SQLite
counts nothing itself: there the same loops run in this process, and the driver reports each statement.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
from sqlalchemy import event

from scripts.benchmarking.cpu_time import cpu_seconds, cpu_seconds_since
from scripts.benchmarking.measured_server import MeasuredServer, measured_server
from scripts.benchmarking.result import Figure, Result, at_most
from sync_server.app import build_runtime
from sync_server.config import load
from sync_server.workers import Worker

STATEMENTS = at_most(2)
PROCESSOR = at_most(0.3)
SETTLE_S = 10.0
"""What a start leaves to do is done by then."""
QUICK_S, THOROUGH_S = 20.0, 60.0


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure both databases for as long as the slowest loop needs for a few rounds."""
    seconds = QUICK_S if quick else THOROUGH_S
    for database in ("postgresql", "sqlite"):
        with measured_server(database) as server:
            statements = _postgres_statements(server) if database == "postgresql" else None
            if statements is None:
                yield _statements(database, _sqlite_statements(server, seconds))
            server.serve()
            time.sleep(SETTLE_S)
            programs = {name: id for name, id in server.programs.items() if name != "database"}
            cpu, before = cpu_seconds(programs), statements() if statements else 0
            time.sleep(seconds)
            if statements:
                yield _statements(database, (statements() - before) / seconds)
            used = sum(cpu_seconds_since(cpu, programs).values()) / seconds
            yield Result("idle", f"{database} processor", Figure(value=100 * used, unit="%"), PROCESSOR)


def _statements(database: str, value: float) -> Result:
    return Result("idle", f"{database} statements", Figure(value=value, unit="statements/s"), STATEMENTS)
