"""What became of each badge, in a file of its own: no scan waits until it is written."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from gate_app.storage.database import connect, signed, unsigned


class State(StrEnum):
    """A badge's way. BEGUN stands before the first byte leaves, so after a power cut it means: nobody knows."""

    WAITING = "waiting"
    BEGUN = "begun"
    PRINTED = "printed"
    UNSURE = "unsure"
    LEFT = "left"
    """Too late, or without a layout: nothing was printed."""


@dataclass(frozen=True, slots=True)
class Badge:
    """A badge to print: of which ticket, and by which entry of the journal."""

    event: int
    ticket_id: int
    asked: int
    """0: by the admission; otherwise the number of a supervisor's request."""
    seq: int
    at: int


_TABLES: Final = """
    CREATE TABLE IF NOT EXISTS badges (
        event INTEGER NOT NULL, ticket INTEGER NOT NULL, asked INTEGER NOT NULL, seq INTEGER NOT NULL,
        at INTEGER NOT NULL, state TEXT NOT NULL, PRIMARY KEY (event, ticket, asked)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS begun (branch INTEGER PRIMARY KEY, after INTEGER NOT NULL) WITHOUT ROWID;
"""


class Records:
    """The badges of one gate. Each change is on the disk when its method returns."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._connection = connect(path)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.executescript(_TABLES)

    def begun_after(self, branch: int, seq: int) -> int:
        """The entry after which badges are printed: the last one there was when this gate got its printer."""
        with self._lock:
            self._connection.execute("INSERT OR IGNORE INTO begun VALUES (?, ?)", (signed(branch), seq))
            (after,) = self._connection.execute(
                "SELECT after FROM begun WHERE branch = ?", (signed(branch),)
            ).fetchone()
        return int(after)

    def add(self, badge: Badge) -> bool:
        """Whether it is new: of each ticket one badge is printed for its admission, and one for each request."""
        values = (badge.event, signed(badge.ticket_id), badge.asked, badge.seq, badge.at, State.WAITING)
        with self._lock:
            added = self._connection.execute("INSERT OR IGNORE INTO badges VALUES (?, ?, ?, ?, ?, ?)", values)
        return added.rowcount == 1

    def set(self, badge: Badge, state: State) -> None:
        key = (state, badge.event, signed(badge.ticket_id), badge.asked)
        with self._lock:
            self._connection.execute("UPDATE badges SET state = ? WHERE (event, ticket, asked) = (?, ?, ?)", key)

    def interrupted(self) -> int:
        """Called at the start: badges that were on their way are now those of which nobody knows. How many."""
        with self._lock:
            return self._connection.execute(
                "UPDATE badges SET state = ? WHERE state = ?", (State.UNSURE, State.BEGUN)
            ).rowcount

    def those(self, state: State) -> list[Badge]:
        """All badges in this state, the oldest first."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT event, ticket, asked, seq, at FROM badges WHERE state = ? ORDER BY seq", (state,)
            ).fetchall()
        return [Badge(event, unsigned(ticket), asked, seq, at) for event, ticket, asked, seq, at in rows]

    def settle(self, event: int, ticket_id: int) -> None:
        """Somebody asked for this ticket's badge again: what became of the earlier one matters no more."""
        key = (State.LEFT, event, signed(ticket_id), State.UNSURE)
        with self._lock:
            self._connection.execute("UPDATE badges SET state = ? WHERE event = ? AND ticket = ? AND state = ?", key)

    def close(self) -> None:
        with self._lock:
            self._connection.close()
