"""What may be read of a home while another process holds it, and how a home takes a new identity."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gate_app import commands
from gate_app.config import config_or_none_of_it
from gate_app.database import get_mark, open_to_read
from gate_app.enrolment import Enrolled
from gate_app.gathering import everybody
from gate_app.home import Home
from gate_app.identity import keep, load
from gate_app.journal import Journal
from gate_app.journal_reading import entries_in, verify_in
from gate_app.lodge import REVOKED, Lodge, World, readiness
from gate_app.occupancy import House
from gate_app.posting import Posts, post_of
from gate_app.roster import Book, snapshot_paths
from gate_app.snapshot_file import open_snapshot
from gate_app.status import View
from gate_app.status import status as tell_status
from gate_app.sync.pull import Standing
from gate_app.time_keeper import TimeKeeper
from shared.errors import NotFound, StorageError, Unreadable


def take_identity(lodge: Lodge, got: Enrolled) -> None:
    """From now on this home is that device; the journal stays, a new device's entries begin a branch of their own."""
    keep(lodge.home.identity, got.identity)
    lodge.database.mark(REVOKED, "")
    lodge.standing.revoked = False
    if lodge.identity is not None and lodge.identity.organisation != got.identity.organisation:
        lodge.roster.wipe()
    lodge.posts.assign([post_of(assignment) for assignment in got.events])
    lodge.identity = got.identity
    Journal(lodge.database, got.identity.device_number, lodge.world.entropy)


@contextmanager
def journal(home: Home) -> Iterator[sqlite3.Connection]:
    """The journal, to be read only. Raises NotFound before the first enrolment or scan."""
    if not home.require_readable().database.exists():
        raise NotFound(f"There is no gate in {home.folder}. Name another folder with --home, or enrol this one.")
    connection = open_to_read(home.database)
    try:
        yield connection
    finally:
        connection.close()


def status(home: Home, world: World) -> dict[str, Any]:
    """How the gate of this home is doing, without disturbing the process that holds it."""
    with journal(home) as connection:
        identity, posts = load(home.identity), Posts(home.posts)
        moment = TimeKeeper(OnlyRead(connection), world.wall, world.monotonic, world.boot).now()
        words = get_mark(connection, REVOKED)
        standing = Standing(revoked=bool(words), words=str(words or ""))
        books, complaints = _books(connection, home)
        config, mistakes = config_or_none_of_it(home.settings)
        view = View(
            home.folder,
            config.least_free_mb,
            identity,
            posts.by_event,
            books,
            connection,
            moment,
            readiness(identity, standing, bool(books)),
            lambda book: _inside(connection, book, moment.at),
            None,
            standing.revoked,
            (mistakes, standing.words, *complaints),
            home.holder(),
        )
        try:
            return tell_status(view)
        finally:
            for book in books.values():
                book.close()


def _books(connection: sqlite3.Connection, home: Home) -> tuple[dict[int, Book], list[str]]:
    """The pages that can be read, and words on those that cannot: whoever asks then needs the rest all the more."""
    books: dict[int, Book] = {}
    complaints: list[str] = []
    for event, path in snapshot_paths(connection, home.snapshots):
        try:
            book = Book(event, open_snapshot(path))
            book.tickets_held()
        except (StorageError, sqlite3.Error, Unreadable) as why:
            complaints.append(f"The tickets in {path.name} cannot be read ({why}). They are fetched again at a sync.")
        else:
            books[event] = book
    return books, complaints


def _inside(connection: sqlite3.Connection, book: Book, now: int) -> int:
    house = House()
    if book.facts.event is not None:
        house.fill(everybody(connection, book.number), book.facts.event, now)
    return len(house.inside)


class OnlyRead:
    """Marks of a home that another process may hold."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Reads through this connection."""
        self._connection = connection

    def marked(self, name: str) -> str | int | bytes | None:
        """The fact kept by that name."""
        return get_mark(self._connection, name)

    def mark(self, name: str, value: str | int | bytes) -> None:
        """Nothing is kept: whoever only looks changes nothing."""


def verified(connection: sqlite3.Connection) -> dict[str, Any]:
    """What checking the whole journal found."""
    chain = verify_in(connection)
    told = {"entries": chain.entries, "ok": chain.ok, "broken_at": chain.broken_at}
    return told | ({"lost": list(chain.lost)} if chain.lost else {})


def entries(connection: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """Everything, oldest first."""
    return (commands.entry_line(entry) for entry in entries_in(connection))
