"""Checks supervisors' PINs with argon2id; five wrong PINs lock a supervisor, and every failure is an entry."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from gate_app.snapshots.roster import Roster
from gate_app.storage.database import Database
from gate_app.words import say
from shared.errors import Forbidden
from shared.wire.snapshot import SupervisorRow
from shared.words.numerals import whole

MAX_WRONG_PINS = 5
LOCK_MS = 300_000

RecordFailure = Callable[[dict[str, Any], Callable[[sqlite3.Connection], None]], None]
"""Writes a failure to the journal, and runs the given function in the same transaction."""


@dataclass(frozen=True, slots=True)
class PinCheck:
    """The supervisor, or the reason why the PIN was refused."""

    supervisor: SupervisorRow | None
    message: str = ""


class Supervisors:
    """Checks PINs of the event's supervisors, and locks out guessers."""

    def __init__(self, database: Database, record_failure: RecordFailure) -> None:
        self._database = database
        self._record_failure = record_failure
        self._hasher = PasswordHasher()

    def ask(self, typed: str, rows: Iterable[SupervisorRow], now: int) -> PinCheck:
        """Checks a PIN, typed alone or as `number:PIN`. Slow on purpose: do not hold the gate's lock."""
        number, pin = _split(typed)
        if not pin:
            return PinCheck(None, say("pin.none"))
        rows = list(rows)
        if not rows:
            return PinCheck(None, say("pin.no_supervisors"))
        candidates = [row for row in rows if number in (None, row.number)]
        unlocked = [row for row in candidates if not self._locked(row.number, now)]
        for row in unlocked:
            if self._matches(row.verifier, pin):
                self._reset(row.number)
                return PinCheck(row)
        if candidates and not unlocked:
            return PinCheck(None, say("pin.locked"))
        self._fail(unlocked, now)
        return PinCheck(None, say("pin.wrong"))

    def require(self, typed: str, roster: Roster, now: int) -> SupervisorRow:
        """The supervisor whose PIN this is, at any event of this gate. Raises Forbidden."""
        check = self.ask(typed, supervisors_of(roster), now)
        if check.supervisor is None:
            raise Forbidden(check.message, code="wrong_pin")
        return check.supervisor

    def _matches(self, verifier: str, pin: str) -> bool:
        try:
            return self._hasher.verify(verifier, pin)
        except (VerificationError, InvalidHashError):
            return False

    def _locked(self, number: int, now: int) -> bool:
        with self._database.lock:
            found = self._database.connection.execute(
                "SELECT locked_until FROM wrong_pins WHERE supervisor = ?", (number,)
            ).fetchone()
        # A clock that was set back must not lock anybody for longer than the lock time.
        return found is not None and now < found[0] <= now + LOCK_MS

    def _reset(self, number: int) -> None:
        with self._database.writing() as connection:
            connection.execute("DELETE FROM wrong_pins WHERE supervisor = ?", (number,))

    def _fail(self, tried: list[SupervisorRow], now: int) -> None:
        def count(connection: sqlite3.Connection) -> None:
            for row in tried:
                _count_failure(connection, row.number, now)

        # A PIN without a number was tried for every supervisor, so the failure counts for each.
        self._record_failure({"supervisors": [row.number for row in tried]}, count)


def supervisors_of(roster: Roster) -> list[SupervisorRow]:
    """The supervisors of all events, each once."""
    found = {row.number: row for snapshot in roster.snapshots.values() for row in snapshot.rows.supervisors.values()}
    return list(found.values())


def _count_failure(connection: sqlite3.Connection, number: int, now: int) -> None:
    found = connection.execute("SELECT wrong, locked_until FROM wrong_pins WHERE supervisor = ?", (number,)).fetchone()
    wrong, until = found or (0, 0)
    # After a lock has expired, the count starts again.
    wrong = 1 if until and until <= now else wrong + 1
    locked_until = now + LOCK_MS if wrong >= MAX_WRONG_PINS else 0
    connection.execute("INSERT OR REPLACE INTO wrong_pins VALUES (?, ?, ?)", (number, wrong, locked_until))


def _split(typed: str) -> tuple[int | None, str]:
    number, colon, pin = typed.strip().partition(":")
    if colon and (known := whole(number, 10**9)) is not None:
        return known, pin.strip()
    return None, typed.strip()
