"""What this gate knows of its events: tickets in a snapshot file each, small rows in memory, turned as one page."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from gate_app.database import Database
from gate_app.snapshot_file import DEAD, SnapshotBuilder, SnapshotFile, dead_of, open_snapshot
from shared.errors import StorageError, Unreadable
from shared.ids import Entropy
from shared.keys import KeyRing, TicketKey
from shared.snapshot import (
    AnyRow,
    DeviceRow,
    EventRow,
    GateRow,
    KeyRow,
    PolicyRow,
    Position,
    Row,
    RowKind,
    SupervisorRow,
    TicketRow,
    TicketTypeRow,
    ZoneRow,
)


@dataclass(slots=True)
class Facts:
    """An event's small rows, in memory: read on every scan, changed a few times a night."""

    event: EventRow | None = None
    gates: dict[int, GateRow] = field(default_factory=dict)
    zones: dict[int, ZoneRow] = field(default_factory=dict)
    types: dict[int, TicketTypeRow] = field(default_factory=dict)
    keys: dict[int, KeyRow] = field(default_factory=dict)
    devices: dict[int, DeviceRow] = field(default_factory=dict)
    supervisors: dict[int, SupervisorRow] = field(default_factory=dict)
    policy: PolicyRow = field(default_factory=PolicyRow)

    def take(self, row: AnyRow) -> None:
        """Finds the row its place."""
        match row:
            case EventRow():
                self.event = row
            case PolicyRow():
                self.policy = row
            case KeyRow():
                self.keys[row.id] = row
            case GateRow():
                self.gates[row.number] = row
            case ZoneRow():
                self.zones[row.number] = row
            case TicketTypeRow():
                self.types[row.number] = row
            case DeviceRow():
                self.devices[row.number] = row
            case SupervisorRow():
                self.supervisors[row.number] = row


class DamagedRows(StorageError):
    """A snapshot that was sound when it was opened cannot be read any more."""

    code = "damaged_rows"


class Book:
    """One event's page of the roster: its snapshot file and the small rows read from it."""

    def __init__(self, number: int, file: SnapshotFile) -> None:
        """Reads the small rows; tickets stay on the disk."""
        self.number = number
        self.file = file
        self._reading = open_snapshot(file.path)
        self._counted: tuple[Position | None, int] = (None, 0)
        self.refresh()

    def refresh(self) -> None:
        """Reads everything in memory anew."""
        facts = Facts()
        for row in self.file.rows():
            facts.take(row)
        self.facts = facts
        self.position = self.file.position()
        self.as_of = self.file.as_of()
        self._dead = self.file.kept_dead()

    def ticket(self, ticket_id: int) -> TicketRow | None:
        """The server's words on a ticket, or what it said of it before it was restored."""
        try:
            row = self._reading.ticket(ticket_id)
        except (sqlite3.Error, Unreadable) as why:
            raise DamagedRows(f"{self.file.path.name} cannot be read: {why}.", event=self.number) from why
        return row if not self._dead else self._or_dead(ticket_id, row)

    def find(self, words: str) -> list[TicketRow]:
        """Tickets by number or confirmation code, as a steward types them."""
        typed = words.strip().upper()
        return [self._or_dead(row.ticket_id, row) or row for row in self._reading.find(typed)]

    def tickets_held(self) -> int:
        """How many tickets the snapshot lists; counted once for each state of the rows."""
        if self._counted[0] != self.position:
            self._counted = (self.position, self._reading.tickets_held())
        return self._counted[1]

    def close(self) -> None:
        """Safe to call twice."""
        self._reading.close()
        self.file.close()

    def later_issue(self, ticket_id: int) -> int:
        """The highest issue that was handed out before the server was restored, as far as it was not said again."""
        dead = self._dead.get(ticket_id) if self._dead else None
        return dead.issue if dead else 0

    def _or_dead(self, ticket_id: int, row: TicketRow | None) -> TicketRow | None:
        dead = self._dead.get(ticket_id)
        if dead is None or dead.state not in DEAD or (row is not None and row.issue > dead.issue):
            return row
        return dead


class Roster:
    """All events this gate holds; `lock` is held while a page turns, and while a scan gathers what it is judged by."""

    def __init__(self, database: Database, folder: Path, entropy: Entropy) -> None:
        """Opens what the last process left; half files are swept away."""
        self.lock = threading.RLock()
        self._database = database
        self._folder = folder
        self._entropy = entropy
        self.books: dict[int, Book] = {}
        self.complaints: list[str] = []
        self.ring = KeyRing.of(())
        for leftover in folder.glob("*.part*"):
            leftover.unlink(missing_ok=True)
        self._open_all()

    def book(self, event: int) -> Book:
        """The page of an event. Raises StorageError where there is none: a scan may have found it damaged meanwhile."""
        found = self.books.get(event)
        if found is None:
            raise StorageError(f"The tickets of event {event} are not here. They are fetched again.")
        return found

    def builder(self, event: int) -> SnapshotBuilder:
        """A new file for a whole snapshot of an event."""
        return SnapshotBuilder(self._folder, f"event-{event}-{self._entropy(4).hex()}")

    def install(self, event: int, builder: SnapshotBuilder, position: Position, as_of: int) -> None:
        """Makes a whole snapshot the one in use, at one stroke. Raises Unreadable when its digest does not fit."""
        before = self.books.get(event)
        if before is not None:
            builder.keep_dead(self._dead_to_keep(before, builder, position))
        path = builder.finish(position, as_of)
        book = Book(event, open_snapshot(path))
        self._database.mark(_mark_of(event), path.name)
        with self.lock:
            self.books[event] = book
            self._make_ring()
        if before is not None:
            before.close()
            _remove(before.file.path)

    def apply(self, event: int, rows: list[Row], after: Position, as_of: int) -> bool:
        """Changes an event's rows in step with their position; False, and no change, when the digest does not fit."""
        book = self.book(event)
        book.file.begin()
        try:
            fits = book.file.change(rows, book.position.digest) == after.digest
            if fits:
                book.file.name_state(after, as_of)
                self._turn(book, rows, after, as_of)
        finally:
            book.file.give_up()
        return fits

    def touch(self, event: int, as_of: int) -> None:
        """The server said that nothing changed: the rows are as fresh as that word."""
        book = self.book(event)
        if as_of > book.as_of:
            book.file.begin()
            book.file.name_state(book.position, as_of)
            book.file.commit()
            book.as_of = as_of

    def drop(self, event: int) -> None:
        """Forgets an event that this gate no longer serves."""
        with self.lock:
            book = self.books.pop(event, None)
            self._make_ring()
        self._database.mark(_mark_of(event), "")
        if book is not None:
            book.close()
            _remove(book.file.path)

    def condemn(self, event: int, why: str) -> None:
        """A page that cannot be read is torn out: no answer is better than a wrong one."""
        self.complaints.append(f"{why} It is fetched again at the next sync.")
        self.drop(event)

    def wipe(self) -> None:
        """Forgets every row: this device was revoked."""
        for event in list(self.books):
            self.drop(event)

    def oldest_as_of(self) -> int | None:
        """The age of the stalest page decides how old this gate's knowledge is."""
        return min((book.as_of for book in self.books.values()), default=None)

    def close(self) -> None:
        """Safe to call twice."""
        for book in self.books.values():
            book.close()

    def _turn(self, book: Book, rows: list[Row], after: Position, as_of: int) -> None:
        """Commits and replaces what is in memory as one, as far as a scan can see."""
        with self.lock:
            book.file.commit()
            if _only_known_tickets(rows) and not book._dead:
                book.position, book.as_of = after, as_of
                return
            book.refresh()
            self._make_ring()

    def _dead_to_keep(self, before: Book, builder: SnapshotBuilder, position: Position) -> dict[int, bytes]:
        if before.position.lineage != position.lineage:
            return dead_of(before.file, builder)
        kept = before.file.connection.execute("SELECT id, body FROM kept_dead").fetchall()
        return dict(kept)

    def _open_all(self) -> None:
        named = _named(self._database.connection)
        for path in sorted(self._folder.glob("event-*.rows")):
            # A finished file that no mark speaks of is whole: it is used rather than none, after a damaged database.
            if named.setdefault(_event_of(path), path.name) != path.name:
                _remove(path)
        for event, name in named.items():
            if name:
                self._open(event, self._folder / name)
        self._make_ring()

    def _open(self, event: int, path: Path) -> None:
        try:
            self.books[event] = Book(event, open_snapshot(path))
        except StorageError as why:
            self.complaints.append(f"{why.message} It is fetched again at the next sync.")

    def _make_ring(self) -> None:
        rows = (row for book in self.books.values() for row in book.facts.keys.values())
        self.ring = KeyRing.of(TicketKey.of(row.id, row.organisation, row.public, row.state) for row in rows)


def snapshot_paths(connection: sqlite3.Connection, folder: Path) -> list[tuple[int, Path]]:
    """The files in use, read beside the process that turns the pages."""
    named = _named(connection)
    for path in sorted(folder.glob("event-*.rows")):
        named.setdefault(_event_of(path), path.name)
    paths = [(event, folder / name) for event, name in named.items() if name]
    return [(event, path) for event, path in paths if path.is_file()]


def _named(connection: sqlite3.Connection) -> dict[int, str]:
    """The file of each event, by its mark; an empty name where the event was dropped."""
    marks = connection.execute("SELECT name, value FROM marks WHERE name LIKE 'rows:%'").fetchall()
    return {int(name.removeprefix("rows:")): value for name, value in marks}


def _event_of(path: Path) -> int:
    return int(path.name.split("-")[1])


def _only_known_tickets(rows: Iterable[Row]) -> bool:
    return all(row.kind == RowKind.TICKET for row in rows)


def _mark_of(event: int) -> str:
    return f"rows:{event}"


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        with suppress(OSError):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
