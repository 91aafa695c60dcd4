"""The yardstick of `snapshot`: only write as many rows to SQLite as a gate must."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from pathlib import Path

ROW_BYTES = 60
FRAME_ROWS = 5_000
SCHEMA = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE ticket (id INTEGER PRIMARY KEY, body BLOB NOT NULL, number TEXT NOT NULL, code TEXT NOT NULL);
"""
INDEXES = "CREATE INDEX by_number ON ticket (number); CREATE INDEX by_code ON ticket (code);"


def write_bare_rows(file: Path, count: int) -> float:
    """Seconds to write so many ticket-sized rows and two indexes to SQLite and sync them to disk."""
    random_source = random.Random(1)
    ids = sorted(random_source.sample(range(1 << 62), count))
    body = os.urandom(ROW_BYTES)
    rows = [(id, body, f"NIGHT-{index}", f"{random_source.getrandbits(40):08x}"[:8]) for index, id in enumerate(ids)]
    started = time.perf_counter()
    database = sqlite3.connect(file, isolation_level=None)
    database.executescript(SCHEMA)
    for start in range(0, count, FRAME_ROWS):
        database.execute("BEGIN")
        database.executemany("INSERT INTO ticket VALUES (?, ?, ?, ?)", rows[start : start + FRAME_ROWS])
        database.execute("COMMIT")
    database.executescript(INDEXES)
    database.close()
    with file.open("rb+") as written:
        os.fsync(written.fileno())
    return time.perf_counter() - started
