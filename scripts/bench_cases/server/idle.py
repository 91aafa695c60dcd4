"""What a server and its worker cost while nobody uses them: statements a second, and percent of a processor.

The processes are real and have their demo event; for as long as it is measured nothing happens. PostgreSQL counts every
statement of every session, those that begin and end transactions and those that test connections among them. SQLite
counts nothing itself: there the same loops run in this process, and the driver reports each statement.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
from sqlalchemy import event

from scripts.benchmarking.meters.cpu_time import cpu_seconds, cpu_seconds_since
from scripts.benchmarking.result import Figure, Result, at_most
from scripts.benchmarking.servers.measured_server import MeasuredServer, measured_server
from sync_server.runtime import prepare_database
from sync_server.workers import Worker

SETTLE_S = 10.0
FEW = 40
"""Statements within that time; while there are more, what a start leaves to do is not done yet."""
SETTLED_WITHIN_S = 120.0
"""Whoever sends more after that is not idle: that is measured, and is what the figure says."""
QUICK_S, THOROUGH_S = 60.0, 180.0
STATEMENT_MARKS = (b"LOG:  statement: ", b"LOG:  execute ")


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure both databases; PostgreSQL with two server processes and a worker."""
    seconds = QUICK_S if quick else THOROUGH_S
    with measured_server("postgresql") as server:
        log = _statement_log(server)
        yield from _processes(server, "", seconds, lambda: sum(map(log.read_bytes().count, STATEMENT_MARKS)))
    with measured_server("sqlite") as server:
        statements = _sqlite_statements(server, seconds)
        yield from _processes(server, "sqlite ", seconds, lambda: statements)


def _processes(server: MeasuredServer, prefix: str, seconds: float, statements: Callable[[], int]) -> Iterator[Result]:
    server.serve()
    programs = {name: id for name, id in server.programs.items() if name != "database"}
    _settle(statements)
    used, count = cpu_seconds(programs), 0 if prefix else statements()
    time.sleep(seconds)
    count, used = statements() - count, cpu_seconds_since(used, programs)
    rate, percent = count / seconds, 100 * sum(used.values()) / seconds
    yield Result("idle", f"{prefix}statements", Figure(value=rate, unit="statements/s"), at_most(2))
    yield Result("idle", f"{prefix}processor", Figure(value=percent, unit="%"), at_most(0.3))


def _settle(statements: Callable[[], int]) -> None:
    """Wait until the nightly check and other jobs that run at a start are done, but not for ever."""
    before = statements()
    for _ in range(int(SETTLED_WITHIN_S / SETTLE_S)):
        time.sleep(SETTLE_S)
        now = statements()
        if now - before <= FEW:
            return
        before = now


def _statement_log(server: MeasuredServer) -> Path:
    """The log of PostgreSQL, which from now on has each statement."""
    with psycopg.connect(server.layout.database_url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET log_statement = 'all'")
        connection.execute("SELECT pg_reload_conf()")
    return Path(server.layout.database_url.partition("host=")[2]) / "log"


def _sqlite_statements(server: MeasuredServer, seconds: float) -> int:
    """How many statements the loops of a server process make in that time."""
    made = list[str]()
    with server.runtime() as runtime:
        parts = runtime.parts
        event.listen(parts.database.engine, "connect", lambda connection, _: connection.set_trace_callback(made.append))
        prepare_database(runtime)
        for loop in (*parts.backends.loops, *parts.loops, Worker(parts).run):
            threading.Thread(target=loop, args=(parts.stop,), daemon=True).start()
        _settle(lambda: len(made))
        made.clear()
        time.sleep(seconds)
        return len(made)
