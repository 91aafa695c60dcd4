"""Supervisors' PINs: verified by argon2id, locked after five wrong ones, every failure an entry."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from gate_app.database import Database
from shared.snapshot import SupervisorRow

TRIES = 5
LOCK_MS = 300_000

Tell = Callable[[dict[str, Any], Callable[[sqlite3.Connection], None]], None]
"""Writes a failure to the journal, and in the same transaction what it is given."""


@dataclass(frozen=True, slots=True)
class PinAnswer:
    """Who it was, or words why nobody was believed."""

    supervisor: SupervisorRow | None
    words: str = ""


class Supervisors:
    """Asks for a PIN of any of the event's supervisors."""

    def __init__(self, database: Database, tell: Tell) -> None:
        """`tell` is the journal's way of keeping a failure."""
        self._database = database
        self._tell = tell
        self._hasher = PasswordHasher()

    def ask(self, typed: str, rows: Iterable[SupervisorRow], now: int) -> PinAnswer:
        """`typed` is a PIN, or a number, a colon and the PIN. Slow on purpose: hold no lane's lock meanwhile."""
        number, pin = _taken_apart(typed)
        if not pin:
            return PinAnswer(None, "No PIN was typed. Nothing was changed.")
        rows = list(rows)
        if not rows:
            return PinAnswer(
                None, "This gate knows no supervisors. The organiser names them on the server; then this gate syncs."
            )
        asked = [row for row in rows if number in (None, row.number)]
        free = [row for row in asked if not self._locked(row.number, now)]
        for row in free:
            if self._fits(row.verifier, pin):
                self._forgive(row.number)
                return PinAnswer(row)
        if asked and not free:
            return PinAnswer(None, "This supervisor is locked on this gate after five wrong PINs. Wait five minutes.")
        self._fail(free, now)
        return PinAnswer(None, "The PIN is wrong. Five wrong ones lock the supervisor on this gate for five minutes.")

    def _fits(self, verifier: str, pin: str) -> bool:
        try:
            return self._hasher.verify(verifier, pin)
        except (VerificationError, InvalidHashError):
            return False

    def _locked(self, number: int, now: int) -> bool:
        with self._database.lock:
            found = self._database.connection.execute(
                "SELECT locked_until FROM wrong_pins WHERE supervisor = ?", (number,)
            ).fetchone()
        # A clock that was set back must not lock anybody for longer than the rule says.
        return found is not None and now < found[0] <= now + LOCK_MS

    def _forgive(self, number: int) -> None:
        with self._database.writing() as connection:
            connection.execute("DELETE FROM wrong_pins WHERE supervisor = ?", (number,))

    def _fail(self, tried: list[SupervisorRow], now: int) -> None:
        def count(connection: sqlite3.Connection) -> None:
            for row in tried:
                _count_failure(connection, row.number, now)

        # A PIN without a number was held against every supervisor, so its failure counts for each.
        self._tell({"supervisors": [row.number for row in tried]}, count)


def _count_failure(connection: sqlite3.Connection, number: int, now: int) -> None:
    found = connection.execute("SELECT wrong, locked_until FROM wrong_pins WHERE supervisor = ?", (number,)).fetchone()
    wrong, until = found or (0, 0)
    # A lock that has passed starts the count anew.
    wrong = 1 if until and until <= now else wrong + 1
    locked_until = now + LOCK_MS if wrong >= TRIES else 0
    connection.execute("INSERT OR REPLACE INTO wrong_pins VALUES (?, ?, ?)", (number, wrong, locked_until))


def _taken_apart(typed: str) -> tuple[int | None, str]:
    number, colon, pin = typed.strip().partition(":")
    if colon and number.isascii() and number.isdigit():
        return int(number), pin.strip()
    return None, typed.strip()
