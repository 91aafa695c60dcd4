"""The yardstick of holding a seat: a bare Flask endpoint that writes the same rows in one statement and asks nothing.

The tables are copies of the product's with all their columns, indexes, checks and foreign keys.
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

from scripts.measuring.bare_server import BareServer
from sync_server.plumbing.straight import numbered

DATABASE: Final = "BARE_HOLD_DATABASE"
TABLES: Final = ("event_seats", "holds", "hold_tallies", "audit_lines", "audit_personal", "outbox")
BLOCKING_THREADS: Final = 256

#: Each table's columns and what goes into them.
_ROWS: Final[Mapping[str, Mapping[str, str]]] = {
    "event_seats": {
        "event_id": ":event",
        "seat": "CAST(:seat AS INTEGER)",
        "organisation_id": ":organisation",
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
        "id": ":line",
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
        "request_id": ":line",
    },
    "audit_personal": {
        "line_id": ":line",
        "part": "'actor'",
        "organisation_id": ":organisation",
        "person_kind": "'guest'",
        "person_id": ":bearer",
        "salt": ":salt",
        "content": ":after",
    },
    "outbox": {
        "message_id": ":line",
        "name": "'seat_held'",
        "organisation_id": ":organisation",
        "stream": "'event:1'",
        "subjects": "CAST(:after AS JSON)",
        "payload": "CAST(:after AS JSON)",
        "created_at": "CAST(:now AS BIGINT)",
        "due_at": "CAST(:now AS BIGINT)",
    },
}
_GUARD: Final = (
    "ON CONFLICT (event_id, seat) DO UPDATE SET version = bare_event_seats.version + 1 WHERE bare_event_seats.state = 0"
)
_TALLY: Final = (
    "INSERT INTO bare_hold_tallies (bearer_id, organisation_id, turn, updated_at) "
    "VALUES (:bearer, :organisation, 1, :now) ON CONFLICT (bearer_id) DO UPDATE SET turn = bare_hold_tallies.turn + 1"
)


def _insert(table: str, source: str) -> str:
    row = _ROWS[table]
    names = ", ".join(f'"{name}"' for name in row)
    return f"INSERT INTO bare_{table} ({names}) SELECT {', '.join(row.values())} {source}"


def _in_one() -> str:
    rest = [f"{table} AS ({_insert(table, 'FROM taken')})" for table in _ROWS if table != "event_seats"]
    taken = f"taken AS ({_insert('event_seats', '')} {_GUARD} RETURNING seat)"
    return f"WITH {taken}, {', '.join(rest)}, tally AS ({_TALLY}) SELECT seat FROM taken"  # noqa: S608 - our own words


IN_ONE: Final = _in_one()
#: For SQLite, which would make a number of what is cast to JSON.
ONE_BY_ONE: Final = tuple(
    words.replace("CAST(:after AS JSON)", ":after")
    for words in (
        f"{_insert('event_seats', 'WHERE true')} {_GUARD} RETURNING seat",
        *(_insert(table, "WHERE true") for table in _ROWS if table != "event_seats"),
        _TALLY,
    )
)

Hold = Callable[[dict[str, Any]], bool]


def create_app() -> Flask:
    """One endpoint."""
    app = Flask(__name__)
    hold = _hold(os.environ[DATABASE])

    @app.get("/ready")
    def ready() -> str:
        return "yes"

    @app.post("/hold")
    def reserve() -> Response:
        asked = request.get_json()
        after = {"seat": asked["seat"], "event_id": asked["event"], "status": "active", "source": "web", "zone": 1}
        values = asked | {
            "hold": str(uuid.uuid4()),
            "line": str(uuid.uuid4()),
            "after": orjson.dumps(after).decode(),
            "salt": os.urandom(16),
            "digest": os.urandom(32),
        }
        held = hold(values)
        body = orjson.dumps({"data": after | {"hold_id": values["hold"], "held_until_unix": asked["now"] // 1000}})
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
            "options": "-c plan_cache_mode=force_generic_plan",
        },
    )
    words = numbered(IN_ONE)

    def hold(values: dict[str, Any]) -> bool:
        with pool.connection() as line:
            return line.execute(words.text, [values[name] for name in words.names], prepare=True).fetchone() is not None

    return hold


def _sqlite(url: str) -> Hold:
    turn = threading.Lock()
    line = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None, check_same_thread=False, timeout=30)
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "cache_size=-32000"):
        line.execute(f"PRAGMA {pragma}")

    def hold(values: dict[str, Any]) -> bool:
        with turn:
            line.execute("BEGIN IMMEDIATE")
            first, *others = ONE_BY_ONE
            held = line.execute(first, values).fetchone() is not None
            for words in others if held else ():
                line.execute(words, values)
            line.execute("COMMIT")
        return held

    return hold


class BareHold(BareServer):
    """The endpoint in processes of its own."""

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
