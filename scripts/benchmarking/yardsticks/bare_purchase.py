"""The yardstick of `purchase`: a bare Flask endpoint that writes the rows of one purchase again, with fresh ids.

Which rows those are is read from the database after a real purchase. The tables are copies with all columns, checks and
indexes; one request, one statement, nothing read and nothing checked.
"""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson
import psycopg
import psycopg_pool
from flask import Flask, Response, request

from scripts.benchmarking.yardsticks.bare_server import BareServer

DATABASE: Final = "BARE_PURCHASE_DATABASE"
ROWS: Final = "BARE_PURCHASE_ROWS"
SHARED: Final = frozenset({"organisation_id", "event_id"})
BIG_STEP, SMALL_STEP = 1 << 32, 1_000
_UNIQUE: Final = """
    SELECT DISTINCT a.attname, format_type(a.atttypid, NULL) FROM pg_index i
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
    WHERE i.indrelid = %s::regclass AND i.indisunique
"""


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """The rows of one purchase by table, and the columns of each that have to be fresh."""

    rows: dict[str, list[dict[str, Any]]]
    fresh: dict[str, dict[str, str]]

    @property
    def count(self) -> int:
        """How many rows."""
        return sum(map(len, self.rows.values()))


def marker(url: str) -> int:
    """A transaction; what is written later has a higher number."""
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute("SELECT txid_current()").fetchone()
        assert row is not None  # noqa: S101 - one row
        return int(row[0])


def record(url: str, since: int) -> WrittenRows:
    """The rows that were written after that transaction; copies of their tables are made."""
    rows: dict[str, list[dict[str, Any]]] = {}
    fresh: dict[str, dict[str, str]] = {}
    with psycopg.connect(url, autocommit=True) as connection:
        listed = "SELECT relname FROM pg_stat_user_tables WHERE schemaname = 'public' ORDER BY relname"
        connection.execute("CREATE SCHEMA bare")
        for (table,) in connection.execute(listed).fetchall():
            newer = f"SELECT to_jsonb(t) FROM {table} t WHERE xmin::text::bigint > %s"  # noqa: S608 - a table's name
            found = [row for (row,) in connection.execute(newer.encode(), [since]).fetchall()]
            if found:
                rows[table] = found
                unique: dict[str, str] = dict(connection.execute(_UNIQUE, [table]).fetchall())
                own = {name: kind for name, kind in unique.items() if name not in SHARED}
                fresh[table] = own or {"event_id": "uuid"}  # a counter of the event: a row of another event
                connection.execute(f"CREATE TABLE bare.{table} (LIKE public.{table} INCLUDING ALL)".encode())
    return WrittenRows(rows, fresh)


class _Copies:
    """Fresh values for one more purchase; the same one wherever the same old one stands."""

    def __init__(self, number: int) -> None:
        self._number, self._known = number, {}  # type: tuple[int, dict[Any, Any]]

    def of(self, value: Any, kind: str) -> Any:
        if value is None or kind == "smallint":
            return value
        return self._known.setdefault((value, kind), self._made(value, kind))

    def _made(self, value: Any, kind: str) -> Any:
        if kind == "uuid":
            return str(uuid.uuid4())
        if kind == "bytea":
            return "\\x" + os.urandom(max(1, (len(value) - 2) // 2)).hex()
        if isinstance(value, int):
            step = (SMALL_STEP if kind == "integer" else BIG_STEP) * self._number
            return value - step if value > 0 and kind == "bigint" else value + step
        return uuid.uuid4().hex[:8]


def create_app() -> Flask:
    """The app with its one endpoint."""
    app = Flask(__name__)
    written = WrittenRows(**orjson.loads(Path(os.environ[ROWS]).read_bytes()))
    pool = psycopg_pool.ConnectionPool(os.environ[DATABASE], min_size=4, max_size=16, open=True)
    inserts = [
        f"w{index} AS (INSERT INTO bare.{table} "  # noqa: S608 - tables of the product
        f"SELECT * FROM jsonb_populate_recordset(NULL::bare.{table}, %s::jsonb))"
        for index, table in enumerate(written.rows)
    ]
    statement = f"WITH {', '.join(inserts)} SELECT 1".encode()

    @app.errorhandler(psycopg.Error)
    def failed(problem: psycopg.Error) -> Response:
        return Response(str(problem), 500)

    @app.get("/ready")
    def ready() -> str:
        return "yes"

    @app.post("/purchase")
    def purchase() -> Response:
        copies = _Copies(int(request.get_json()["number"]))
        values = []
        for table, rows in written.rows.items():
            columns = written.fresh[table]
            made = [row | {name: copies.of(row[name], kind) for name, kind in columns.items()} for row in rows]
            values.append(orjson.dumps(made).decode())
        with pool.connection() as connection:
            connection.execute(statement, values)
        return Response(b'{"state":"paid"}', 201, content_type="application/json")

    return app


class BarePurchase(BareServer):
    """The endpoint in its own processes."""

    def __init__(self, folder: Path, database_url: str, written: WrittenRows, processes: int) -> None:
        file = folder / "purchase.json"
        file.write_bytes(orjson.dumps({"rows": written.rows, "fresh": written.fresh}))
        settings = ["--workers", str(processes), "--blocking-threads", "64"]
        super().__init__(__name__, folder, {DATABASE: database_url, ROWS: str(file)}, settings=settings)
