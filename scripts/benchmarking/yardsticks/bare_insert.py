"""The yardsticks of `upload`: only insert what an upload leaves behind, in batches of the same size.

The rows are those that the server has stored: each entry, its movement for the other gates, and where its guest is. The
tables are copies of the product's with all their columns, keys, constraints and indexes. The smaller yardstick inserts
only the entries, as they came, into one table with one index.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import psycopg

from shared.journal.scans import entry_hash

BATCH: Final = 500
ONE_TABLE: Final = "CREATE TABLE {name} (seq bigint PRIMARY KEY, body {blob} NOT NULL)"
SAME_ROWS: Final = {
    "scan_entries": "hash IN ({hashes})",
    "scan_movements": "hash IN ({hashes})",
    "scan_presence": "ticket IN (SELECT ticket FROM scan_entries WHERE hash IN ({hashes}))",
}
"""The tables, and which of their rows belong to a batch."""

Rows = Mapping[str, Sequence[tuple[Any, ...]]]
"""Rows by table."""


class Bare(NamedTuple):
    """Entries per second: of the same rows, and into one table."""

    same_rows: float
    one_table: float


def into_postgres(url: str, bodies: Sequence[bytes]) -> Bare:
    """One `COPY` for each table, or one `unnest` into one table, and one commit for each batch."""
    with psycopg.connect(url) as connection:
        # In a schema of their own: tables that are not the program's would stop a worker that starts.
        connection.execute("DROP SCHEMA IF EXISTS bare CASCADE; CREATE SCHEMA bare")
        connection.execute(ONE_TABLE.format(name="bare.one", blob="bytea"))
        for table in SAME_ROWS:
            connection.execute(f"CREATE TABLE bare.{table} (LIKE public.{table} INCLUDING ALL)")
        batches = [_stored(connection.execute, some, "%s") for some in _batches(bodies)]
        connection.commit()

        def insert(rows: Rows) -> None:
            for table, some in rows.items():
                with connection.cursor().copy(f"COPY bare.{table} FROM STDIN") as copy:
                    for row in some:
                        copy.write_row(row)
            connection.commit()

        def insert_into_one(rows: Rows) -> None:
            columns = [*map(list, zip(*rows["one"], strict=True))]
            connection.execute("INSERT INTO bare.one SELECT * FROM unnest(%s::bigint[], %s::bytea[])", columns)
            connection.commit()

        return Bare(_rate(insert, batches, len(bodies)), _rate(insert_into_one, _as_they_came(bodies), len(bodies)))


def into_sqlite(server: Path, file: Path, bodies: Sequence[bytes]) -> Bare:
    """One `executemany` for each table, and one durable commit, for each batch; `server` is the file of the product."""
    file.unlink(missing_ok=True)
    connection = sqlite3.connect(file, isolation_level=None)
    connection.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -32000")
    connection.execute(ONE_TABLE.format(name="one", blob="blob"))
    product = sqlite3.connect(f"file:{server}?mode=ro", uri=True)
    for table in SAME_ROWS:
        made = product.execute("SELECT sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL", (table,))
        for (statement,) in made.fetchall():
            connection.execute(statement)
    batches = [_stored(product.execute, some, "?") for some in _batches(bodies)]
    product.close()

    def insert(rows: Rows) -> None:
        connection.execute("BEGIN IMMEDIATE")
        for table, some in rows.items():
            values = ", ".join("?" * len(some[0]))
            connection.executemany(f"INSERT INTO {table} VALUES ({values})", some)  # noqa: S608 - our own names
        connection.execute("COMMIT")

    rates = Bare(_rate(insert, batches, len(bodies)), _rate(insert, _as_they_came(bodies), len(bodies)))
    connection.close()
    return rates


def _rate(insert: Callable[[Rows], None], batches: Sequence[Rows], entries: int) -> float:
    started = time.perf_counter()
    for rows in batches:
        insert(rows)
    return entries / (time.perf_counter() - started)


def _batches(bodies: Sequence[bytes]) -> list[Sequence[bytes]]:
    return [bodies[start : start + BATCH] for start in range(0, len(bodies), BATCH)]


def _as_they_came(bodies: Sequence[bytes]) -> list[Rows]:
    numbered = list(enumerate(bodies))
    return [{"one": numbered[start : start + BATCH]} for start in range(0, len(bodies), BATCH)]


def _stored(execute: Callable[[str, Sequence[bytes]], Any], bodies: Sequence[bytes], placeholder: str) -> Rows:
    """What the server has stored of these entries."""
    hashes, listed = [entry_hash(body) for body in bodies], ", ".join([placeholder] * len(bodies))
    wanted = {table: f"SELECT * FROM {table} WHERE {named.format(hashes=listed)}" for table, named in SAME_ROWS.items()}  # noqa: S608 - our own names
    found = {table: execute(query, hashes).fetchall() for table, query in wanted.items()}
    return {table: rows for table, rows in found.items() if rows}
