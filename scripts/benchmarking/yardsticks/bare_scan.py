"""The yardstick of `scan`: the least that any gate must do for a scan.

One Ed25519 verification with a ready key object, two indexed reads of SQLite, and one insert of four columns with a
blob of 120 bytes, committed with synchronous=FULL in WAL mode. Like the gate it checkpoints between scans: `rest`.

The signature is verified by OpenSSL, as this yardstick always did. The gate uses libsodium, which needs half the
instructions: `verifies` is that part alone, so that both can be compared.
"""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SIGNED_BYTES = 42
BLOB_BYTES = 120
CHECKPOINT_EVERY = 500
SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA wal_autocheckpoint = 0;
PRAGMA synchronous = FULL;
CREATE TABLE ticket (id INTEGER PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE movement (ticket INTEGER NOT NULL, at INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX movement_of_ticket ON movement (ticket, at);
CREATE TABLE journal (seq INTEGER PRIMARY KEY, ticket INTEGER NOT NULL, at INTEGER NOT NULL, body BLOB NOT NULL);
"""


class BareScan:
    """A database with as many tickets as the measured gate has; call it once per scan."""

    def __init__(self, file: Path, tickets: int) -> None:
        self._key = Ed25519PrivateKey.generate()
        self._public = self._key.public_key()
        self._message = os.urandom(SIGNED_BYTES)
        self._signature = self._key.sign(self._message)
        self._blob = os.urandom(BLOB_BYTES)
        self._database = sqlite3.connect(file, isolation_level=None)
        self._database.executescript(SCHEMA)
        self._ids = self._fill(tickets)
        self._commits = 0
        self._order = self._cycle()

    def _fill(self, tickets: int) -> list[int]:
        ids = random.Random(1).sample(range(1 << 62), tickets)
        with self._database as connection:
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO ticket VALUES (?, ?)", ((id, self._blob[:60]) for id in ids))
        return ids

    def _cycle(self) -> Iterator[int]:
        while True:
            yield from self._ids

    def __call__(self) -> None:
        """Do one scan."""
        ticket = next(self._order)
        self.verifies()
        self._database.execute("SELECT body FROM ticket WHERE id = ?", (ticket,)).fetchone()
        self._database.execute("SELECT at, body FROM movement WHERE ticket = ? ORDER BY at", (ticket,)).fetchall()
        self._database.execute("BEGIN IMMEDIATE")
        self._database.execute("INSERT INTO journal (ticket, at, body) VALUES (?, ?, ?)", (ticket, 0, self._blob))
        self._database.execute("COMMIT")
        self._commits += 1

    def verifies(self) -> None:
        """Verify one signature."""
        self._public.verify(self._signature, self._message)

    def rest(self) -> None:
        """Checkpoint the log now and then, outside of any scan."""
        if self._commits >= CHECKPOINT_EVERY:
            self._commits = 0
            self._database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()

    def journal_rows(self) -> int:
        """The number of scans on disk."""
        return int(self._database.execute("SELECT count(*) FROM journal").fetchone()[0])

    def close(self) -> None:
        """Close the database."""
        self._database.close()
