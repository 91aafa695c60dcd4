"""The yardstick of an upload: the same entries written into one table, in batches as large, with nothing around it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

import psycopg

BATCH = 500
TABLE = "CREATE TABLE bare (seq bigint PRIMARY KEY, body {blob} NOT NULL)"


def into_postgres(url: str, bodies: Sequence[bytes]) -> float:
    """Entries a second by one `unnest` and one commit a batch."""
    with psycopg.connect(url) as connection:
        connection.execute("DROP TABLE IF EXISTS bare")
        connection.execute(TABLE.format(blob="bytea"))
        connection.commit()
        begun = time.perf_counter()
        for start in range(0, len(bodies), BATCH):
            some = list(bodies[start : start + BATCH])
            numbers = list(range(start, start + len(some)))
            connection.execute("INSERT INTO bare SELECT * FROM unnest(%s::bigint[], %s::bytea[])", (numbers, some))
            connection.commit()
        return len(bodies) / (time.perf_counter() - begun)


def into_sqlite(file: Path, bodies: Sequence[bytes]) -> float:
    """Entries a second by one `executemany` and one commit a batch, each on the disk."""
    file.unlink(missing_ok=True)
    connection = sqlite3.connect(file, isolation_level=None)
    connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; {TABLE.format(blob='blob')};")
    begun = time.perf_counter()
    for start in range(0, len(bodies), BATCH):
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO bare VALUES (?, ?)", enumerate(bodies[start : start + BATCH], start))
        connection.execute("COMMIT")
    rate = len(bodies) / (time.perf_counter() - begun)
    connection.close()
    return rate
