"""The yardstick of the feed: a bare Flask endpoint that runs the same SQL over the same tables, and nothing else."""

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

from scripts.measuring.bare_server import BareServer

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
HOUSES: Final = "SELECT id, slug, name FROM organisations WHERE id IN ({})"

Ask = Callable[[str, Sequence[Any]], list[dict[str, Any]]]


def create_app() -> Flask:
    """One endpoint."""
    app = Flask(__name__)
    asking = _asking(os.environ[DATABASE])

    @app.get("/ready")
    def ready() -> Response:
        return jsonify(True)

    @app.get("/")
    def page() -> Response:
        now, start, number, limit = (int(request.args[name]) for name in ("now", "start", "number", "limit"))
        with asking() as ask:
            found = ask(PAGE, (now, start, number, now, start, number, limit + 1))[:limit]
            numbers = [row["number"] for row in found]
            known = {row["number"]: row for row in ask(_listed(EVENTS, numbers), numbers) if row["status"] in VISIBLE}
            owners = [*{row["organisation_id"] for row in known.values()}]
            houses = {row["id"]: row for row in ask(_listed(HOUSES, owners), owners)}
        items = [known[number] | {"organisation": houses[known[number]["organisation_id"]]} for number in numbers]
        return jsonify({"items": items, "next": found[-1] if found else None})

    return app


def _listed(statement: str, values: Sequence[Any]) -> str:
    return statement.format(", ".join("?" * len(values)))


def _asking(url: str) -> Callable[[], Any]:
    return _sqlite(url) if url.startswith("sqlite") else _postgresql(url)


def _postgresql(url: str) -> Callable[[], Any]:
    pool = psycopg_pool.ConnectionPool(url, min_size=4, kwargs={"autocommit": True}, open=True)

    @contextmanager
    def asking() -> Iterator[Ask]:
        with pool.connection() as connection:
            from psycopg.rows import dict_row

            cursor = connection.cursor(row_factory=dict_row)
            yield lambda statement, values: cursor.execute(statement.replace("?", "%s"), values).fetchall()

    return asking


def _sqlite(url: str) -> Callable[[], Any]:
    kept = threading.local()

    @contextmanager
    def asking() -> Iterator[Ask]:
        if not hasattr(kept, "line"):
            kept.line = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
            kept.line.row_factory = sqlite3.Row
            kept.line.execute("PRAGMA cache_size=-32000")
        yield lambda statement, values: [dict(row) for row in kept.line.execute(statement, values)]

    return asking


class BareFeed(BareServer):
    """The endpoint in a process of its own."""

    def __init__(self, folder: Path, database_url: str) -> None:
        super().__init__(__name__, folder, {DATABASE: database_url}, settings=["--blocking-threads", "8"])
