"""The yardstick of `upload`: only insert the same entries into one table, in batches of the same size."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

import psycopg

BATCH = 500
TABLE = "CREATE TABLE bare (seq bigint PRIMARY KEY, body {blob} NOT NULL)"


def into_postgres(url: str, bodies: Sequence[bytes]) -> float:
    """Entries per second with one `unnest` and one commit per batch."""
    with psycopg.connect(url) as connection:
        connection.execute("DROP TABLE IF EXISTS bare")
        connection.execute(TABLE.format(blob="bytea"))
        connection.commit()
        started = time.perf_counter()
        for start in range(0, len(bodies), BATCH):
            batch = list(bodies[start : start + BATCH])
            numbers = list(range(start, start + len(batch)))
            connection.execute("INSERT INTO bare SELECT * FROM unnest(%s::bigint[], %s::bytea[])", (numbers, batch))
            connection.commit()
        return len(bodies) / (time.perf_counter() - started)


def into_sqlite(file: Path, bodies: Sequence[bytes]) -> float:
    """Entries per second with one `executemany` and one durable commit per batch."""
    file.unlink(missing_ok=True)
    connection = sqlite3.connect(file, isolation_level=None)
    connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; {TABLE.format(blob='blob')};")
    started = time.perf_counter()
    for start in range(0, len(bodies), BATCH):
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO bare VALUES (?, ?)", enumerate(bodies[start : start + BATCH], start))
        connection.execute("COMMIT")
    rate = len(bodies) / (time.perf_counter() - started)
    connection.close()
    return rate
