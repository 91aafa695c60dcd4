"""The yardstick of `reserve`: a bare Flask endpoint that writes the same rows in one statement, without any checks.

The tables are copies of the product's with all their columns, indexes, constraints and foreign keys.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import orjson
import psycopg
import psycopg_pool
from flask import Flask, Response, request

from scripts.benchmarking.yardsticks.bare_server import BareServer
from sync_server.plumbing.sql.autocommit import numbered

DATABASE: Final = "BARE_HOLD_DATABASE"
TABLES: Final = ("event_seats", "holds", "hold_counters", "audit_lines", "audit_personal", "outbox")
BLOCKING_THREADS: Final = 256

#: The columns of each table and their values.
_ROWS: Final[Mapping[str, Mapping[str, str]]] = {
    "event_seats": {
        "organisation_id": ":organisation",
        "event_id": ":event",
        "day": "0",
        "seat": "CAST(:seat AS INTEGER)",
        "state": "1",
        "hold_id": ":hold",
        "held_until": "CAST(:now AS BIGINT)",
        "version": "1",
        "locked_at": "CAST(:now AS BIGINT)",
    },
    "holds": {
        "id": ":hold",
        "organisation_id": ":organisation",
        "event_id": ":event",
        "days": "'0'",
        "kind": "'seat'",
        "seat": "CAST(:seat AS INTEGER)",
        "zone": "1",
        "quantity": "1",
        "bearer_kind": "'guest'",
        "bearer_id": ":bearer",
        "status": "'active'",
        "held_until": "CAST(:now AS BIGINT)",
        "extended": "0",
        "source": "'web'",
        "created_at": "CAST(:now AS BIGINT)",
        "updated_at": "CAST(:now AS BIGINT)",
    },
    "audit_lines": {
        "id": ":connection",
        "organisation_id": ":organisation",
        "at": "CAST(:now AS BIGINT)",
        "actor_kind": "'guest'",
        "actor_id": ":bearer",
        "action": "'seat_reserved'",
        "subject_kind": "'hold'",
        "subject_id": ":hold",
        "after": "CAST(:after AS JSON)",
        "actor_digest": ":digest",
        "reason": "''",
        "approval": "''",
        "request_id": ":connection",
    },
    "audit_personal": {
        "line_id": ":connection",
        "part": "'actor'",
        "organisation_id": ":organisation",
        "person_kind": "'guest'",
        "person_id": ":bearer",
        "salt": ":salt",
        "content": ":after",
    },
    "outbox": {
        "message_id": ":connection",
        "name": "'seat_held'",
        "organisation_id": ":organisation",
        "stream": "'event:1'",
        "subjects": "CAST(:after AS JSON)",
        "payload": "CAST(:after AS JSON)",
        "created_at": "CAST(:now AS BIGINT)",
        "written_at": "CAST(:now AS BIGINT)",
    },
}
_GUARD: Final = (
    "ON CONFLICT (organisation_id, event_id, seat, day) "
    "DO UPDATE SET version = bare_event_seats.version + 1 WHERE bare_event_seats.state = 0"
)
_COUNTER: Final = (
    "INSERT INTO bare_hold_counters (bearer_id, organisation_id, version, updated_at) "
    "VALUES (:bearer, :organisation, 1, :now) "
    "ON CONFLICT (organisation_id, bearer_id) DO UPDATE SET version = bare_hold_counters.version + 1"
)


def _insert(table: str, source: str) -> str:
    row = _ROWS[table]
    names = ", ".join(f'"{name}"' for name in row)
    return f"INSERT INTO bare_{table} ({names}) SELECT {', '.join(row.values())} {source}"


def _single_statement() -> str:
    rest = [f"{table} AS ({_insert(table, 'FROM taken')})" for table in _ROWS if table != "event_seats"]
    taken = f"taken AS ({_insert('event_seats', '')} {_GUARD} RETURNING seat)"
    return f"WITH {taken}, {', '.join(rest)}, counter AS ({_COUNTER}) SELECT seat FROM taken"  # noqa: S608 - constants


SINGLE_STATEMENT: Final = _single_statement()
#: For SQLite, which would turn a value cast to JSON into a number.
STATEMENTS: Final = tuple(
    statement.replace("CAST(:after AS JSON)", ":after")
    for statement in (
        f"{_insert('event_seats', 'WHERE true')} {_GUARD} RETURNING seat",
        *(_insert(table, "WHERE true") for table in _ROWS if table != "event_seats"),
        _COUNTER,
    )
)

Hold = Callable[[dict[str, Any]], bool]


def create_app() -> Flask:
    """The app with its one endpoint."""
    app = Flask(__name__)
    hold = _hold(os.environ[DATABASE])

    @app.get("/ready")
    def ready() -> str:
        return "yes"

    @app.post("/hold")
    def reserve() -> Response:
        payload = request.get_json()
        after = {"seat": payload["seat"], "event_id": payload["event"], "status": "active", "source": "web", "zone": 1}
        values = payload | {
            "hold": str(uuid.uuid4()),
            "connection": str(uuid.uuid4()),
            "after": orjson.dumps(after).decode(),
            "salt": os.urandom(16),
            "digest": os.urandom(32),
        }
        held = hold(values)
        body = orjson.dumps({"data": after | {"hold_id": values["hold"], "held_until_unix": payload["now"] // 1000}})
        return Response(body, 201 if held else 409, content_type="application/json")

    return app


def _hold(url: str) -> Hold:
    return _sqlite(url) if url.startswith("sqlite") else _postgresql(url)


def _postgresql(url: str) -> Hold:
    pool = psycopg_pool.ConnectionPool(
        url,
        min_size=4,
        max_size=16,
        open=True,
        kwargs={
            "autocommit": True,
            "cursor_factory": psycopg.RawCursor,
            "options": "-c plan_cache_mode=force_generic_plan -c search_path=bare,public",
        },
    )
    statement = numbered(SINGLE_STATEMENT)

    def hold(values: dict[str, Any]) -> bool:
        with pool.connection() as connection:
            return (
                connection.execute(statement.text, [values[name] for name in statement.names], prepare=True).fetchone()
                is not None
            )

    return hold


def _sqlite(url: str) -> Hold:
    lock = threading.Lock()
    connection = sqlite3.connect(
        url.removeprefix("sqlite:///"), isolation_level=None, check_same_thread=False, timeout=30
    )
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "cache_size=-32000"):
        connection.execute(f"PRAGMA {pragma}")

    def hold(values: dict[str, Any]) -> bool:
        with lock:
            connection.execute("BEGIN IMMEDIATE")
            first, *others = STATEMENTS
            held = connection.execute(first, values).fetchone() is not None
            for statement in others if held else ():
                connection.execute(statement, values)
            connection.execute("COMMIT")
        return held

    return hold


class BareHold(BareServer):
    """The endpoint in its own processes."""

    def __init__(self, folder: Path, database_url: str, processes: int) -> None:
        settings = [
            "--workers",
            str(processes),
            "--blocking-threads",
            str(BLOCKING_THREADS),
            "--backlog",
            "4096",
            "--backpressure",
            "2048",
        ]
        super().__init__(__name__, folder, {DATABASE: database_url}, settings=settings)
