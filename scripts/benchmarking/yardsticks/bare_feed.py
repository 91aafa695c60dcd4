"""The yardstick of `feed`: a bare Flask endpoint that only runs the same SQL on the same tables."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg_pool
from flask import Flask, Response, jsonify, request

from scripts.benchmarking.yardsticks.bare_server import BareServer

DATABASE: Final = "BARE_FEED_DATABASE"

PAGE: Final = (
    "SELECT number, starts_at FROM listings WHERE listed_until > ? AND (starts_at, number) > (?, ?) "
    "AND (moved_at <= ? OR (moved_from, number) > (?, ?)) ORDER BY starts_at, number LIMIT ?"
)
EVENTS: Final = (
    "SELECT number, id, organisation_id, slug, name, category, status, start_at, end_at, doors_at, rescheduled_at, "
    "sale_start_at, sale_end_at, timezone, venue_name, city, country, capacity, tickets_issued, cover_images, "
    "cover_alts, participants_elsewhere FROM events WHERE number IN ({})"
)
VISIBLE: Final = {"published", "live", "postponed"}
ORGANISATIONS: Final = "SELECT id, slug, name FROM organisations WHERE id IN ({})"

Query = Callable[[str, Sequence[Any]], list[dict[str, Any]]]


def create_app() -> Flask:
    """The app with its one endpoint."""
    app = Flask(__name__)
    connected = _database(os.environ[DATABASE])

    @app.get("/ready")
    def ready() -> Response:
        return jsonify(True)

    @app.get("/")
    def page() -> Response:
        now, start, number, limit = (int(request.args[name]) for name in ("now", "start", "number", "limit"))
        with connected() as query:
            rows = query(PAGE, (now, start, number, now, start, number, limit + 1))[:limit]
            numbers = [row["number"] for row in rows]
            events = {
                row["number"]: row for row in query(_listed(EVENTS, numbers), numbers) if row["status"] in VISIBLE
            }
            owners = [*{row["organisation_id"] for row in events.values()}]
            organisations = {row["id"]: row for row in query(_listed(ORGANISATIONS, owners), owners)}
        items = [
            events[number] | {"organisation": organisations[events[number]["organisation_id"]]} for number in numbers
        ]
        return jsonify({"items": items, "next": rows[-1] if rows else None})

    return app


def _listed(statement: str, values: Sequence[Any]) -> str:
    return statement.format(", ".join("?" * len(values)))


def _database(url: str) -> Callable[[], Any]:
    return _sqlite(url) if url.startswith("sqlite") else _postgresql(url)


def _postgresql(url: str) -> Callable[[], Any]:
    pool = psycopg_pool.ConnectionPool(url, min_size=4, kwargs={"autocommit": True}, open=True)

    @contextmanager
    def connected() -> Iterator[Query]:
        with pool.connection() as connection:
            from psycopg.rows import dict_row

            cursor = connection.cursor(row_factory=dict_row)
            yield lambda statement, values: cursor.execute(statement.replace("?", "%s"), values).fetchall()

    return connected


def _sqlite(url: str) -> Callable[[], Any]:
    local = threading.local()

    @contextmanager
    def connected() -> Iterator[Query]:
        if not hasattr(local, "connection"):
            local.connection = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
            local.connection.row_factory = sqlite3.Row
            local.connection.execute("PRAGMA cache_size=-32000")
        yield lambda statement, values: [dict(row) for row in local.connection.execute(statement, values)]

    return connected


class BareFeed(BareServer):
    """The endpoint in its own process."""

    def __init__(self, folder: Path, database_url: str) -> None:
        super().__init__(__name__, folder, {DATABASE: database_url}, settings=["--blocking-threads", "8"])
