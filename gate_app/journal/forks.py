"""Two machines with one key: the one whose entries came second begins a new branch, and both tell their operators."""

from __future__ import annotations

import sqlite3
from contextlib import suppress

from gate_app.clock.time_keeper import Moment
from gate_app.journal.journal import Journal
from gate_app.storage.database import get_int, get_value

FORKS = "forks"
LEFT_MESSAGE = (
    "The server has different entries from this gate: another machine has the same key, or an older copy of its card"
    " was restored. Scanning continues on a new branch. If there is a second machine, switch one of them off."
)
TWIN_MESSAGE = (
    "Another machine has written entries with this gate's key: a copy of its card is in use. Switch the other machine"
    " off and tell the organiser; the entries of both are kept."
)
_TWIN_BRANCH = "twin_branch"


def leave(journal: Journal, moment: Moment, boot: bytes) -> str:
    """Begins a new branch because the server has other entries under our numbers; returns the message for staff."""
    with journal.database.lock:
        journal.database.put(FORKS, get_int(journal.database.connection, FORKS) + 1)
        journal.begin_branch(moment, boot, LEFT_MESSAGE)
    return LEFT_MESSAGE


def note_twin(journal: Journal) -> None:
    """Remembers that the server was told other entries of the current branch by another machine."""
    with journal.database.lock, suppress(sqlite3.Error):  # on a full disk it is told again
        if get_int(journal.database.connection, _TWIN_BRANCH) != journal.branch.number:
            journal.database.put(_TWIN_BRANCH, journal.branch.number)
            journal.database.put(FORKS, get_int(journal.database.connection, FORKS) + 1)


def forget_twin(journal: Journal) -> None:
    """The organiser has seen to the other machine: the server no longer says that there is one."""
    with journal.database.lock, suppress(sqlite3.Error):
        if get_int(journal.database.connection, _TWIN_BRANCH) == journal.branch.number:
            journal.database.put(_TWIN_BRANCH, 0)


def message(connection: sqlite3.Connection, branch: int) -> str:
    """What the operator must know of a second machine, until the organiser has seen to it; empty if there is none."""
    if branch and get_int(connection, _TWIN_BRANCH) == branch:
        return TWIN_MESSAGE
    return LEFT_MESSAGE if get_value(connection, "branch_words") == LEFT_MESSAGE else ""
