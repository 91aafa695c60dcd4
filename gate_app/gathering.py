"""Gathers what one decision depends on: the event's rows, the ticket's row, its history and who is inside."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gate_app import history
from gate_app.clockface import local_time
from gate_app.database import Database
from gate_app.occupancy import House, Share
from gate_app.posting import Post, Posts, gate_at
from gate_app.roster import Book, Roster
from gate_app.time_keeper import Moment
from shared.as_printed import as_printed
from shared.attempts import Attempt, Direction, Mode, Override, Passage, Readiness, Room, utc_words
from shared.movements import History, passages
from shared.scene import type_of, zone_of
from shared.snapshot import DeviceRow, EventRow, GateRow, Movement, PolicyRow, TicketRow, ZoneRow
from shared.tickets import ReadTicket, Refusal

NO_POLICY = PolicyRow()
_NO_HISTORY = History()
_COUNTED = frozenset({"ga_seated", "ga_standing", "vip_standing"})


@dataclass(frozen=True, slots=True)
class Wish:
    """What the operator, or the command line, asks beside the code."""

    direction: str | None = None
    mode: str | None = None
    gate: str = ""
    override: Override | None = None


NO_WISH = Wish()


@dataclass(frozen=True, slots=True)
class Setting:
    """Where, when and how a code was shown."""

    moment: Moment
    direction: Direction
    mode: Mode
    wish: Wish
    readiness: Readiness


@dataclass(frozen=True, slots=True)
class Gathered:
    """An attempt, and what is needed to record it."""

    attempt: Attempt
    book: Book | None
    post: Post | None
    zone: int = 0
    foreign: tuple[Movement, ...] = ()


class Gathering:
    """Reads, and changes nothing."""

    def __init__(self, database: Database, roster: Roster, posts: Posts, organisation: str, device: int) -> None:
        """What to read from; `device` is this one's number."""
        self._database = database
        self._roster = roster
        self._posts = posts
        self._organisation = organisation
        self._device = device
        self._opened: set[tuple[int, int]] = set()
        self._emptied: dict[int, int] = {}
        self.houses: dict[int, House] = {}
        self.read_decisions()

    def read_decisions(self) -> None:
        """What supervisors decided on this device: doors (gate 0) and gates opened, houses emptied."""
        rows = self._database.connection.execute("SELECT event, gate FROM openings").fetchall()
        self._opened = {(event, gate) for event, gate in rows}
        self._emptied = dict(self._database.connection.execute("SELECT event, at FROM emptied").fetchall())

    def gather(self, code: ReadTicket | Refusal, wish: Wish, moment: Moment, readiness: Readiness) -> Gathered:
        """Everything about this presentation. Raises NotFound or Forbidden for a wished gate that is not ours."""
        post = self._post_of(code)
        direction, mode = direction_of(wish, post), mode_of(wish, post)
        book = self._roster.books.get(post.event) if post else None
        if post is not None and book is None and readiness.ready and readiness.can_record:
            readiness = Readiness(False, f"This gate holds no tickets of {post.name or 'this event'} yet. Let it sync")
        setting = Setting(moment, direction, mode, wish, readiness)
        if isinstance(code, Refusal) or post is None or book is None:
            return Gathered(self._elsewhere(code, setting, book, post), book, post)
        return self._at_home(code, setting, book, post)

    def event_of(self, book: Book) -> EventRow | None:
        """The server's words on an event, and since when a supervisor here said that the house was empty."""
        event, emptied = book.facts.event, self._emptied.get(book.number) if self._emptied else None
        if event is None or emptied is None or (event.counts_from or 0) >= emptied:
            return event
        return replace(event, counts_from=emptied)

    def house(self, book: Book, now: int) -> House:
        """Who is inside at this event, counted when first asked for."""
        event = self.event_of(book)
        with self._database.lock:
            house = self.houses.get(book.number)
            if house is None:
                house = self.houses[book.number] = House()
                if event is not None:
                    house.fill(everybody(self._database.connection, book.number), event, now)
            if event is not None:
                house.turn_day(event, now)
            return house

    def recount(self, book: Book, ticket_ids: set[int], now: int) -> None:
        """These tickets' movements changed."""
        house, event = self.houses.get(book.number), self.event_of(book)
        if house is None or event is None:
            return
        with self._database.lock:
            for ticket_id in ticket_ids:
                movements, _ = history.of_ticket(self._database.connection, ticket_id)
                house.note(ticket_id, passages(movements, None, None).passages, event, now)

    def _post_of(self, code: ReadTicket | Refusal) -> Post | None:
        """The post that the ticket's event belongs to; for what is no ticket of ours, the only post there is."""
        posts = self._posts.by_event
        if isinstance(code, ReadTicket):
            return posts.get(code.ticket.event_number)
        return next(iter(posts.values())) if len(posts) == 1 else None

    def _elsewhere(self, code: ReadTicket | Refusal, at: Setting, book: Book | None, post: Post | None) -> Attempt:
        """What ends in rows 0 to 4, whatever else is true."""
        event = book.facts.event if book else None
        return Attempt(
            now=at.moment.at,
            direction=at.direction,
            mode=at.mode,
            code=code,
            organisation=self._organisation,
            event=None,
            gate=gate_at(post, book.facts.gates, at.wish.gate) if post and book else None,
            zone=None,
            row=None,
            ticket_type=None,
            history=(),
            policy=NO_POLICY,
            snapshot_as_of=self._roster.oldest_as_of() or 0,
            uncertainty=at.moment.uncertainty,
            readiness=at.readiness,
            other_event=self._other_event(code),
            local_time=local_time(event.timezone) if event else utc_words,
        )

    def _at_home(self, code: ReadTicket, at: Setting, book: Book, post: Post) -> Gathered:
        facts, ticket, event = book.facts, code.ticket, self.event_of(book)
        row = book.ticket(ticket.ticket_id)
        with self._database.lock:
            movements, highest = history.of_ticket(self._database.connection, ticket.ticket_id)
        # Typed by hand there is no code to compare with.
        told = passages(movements, code.code_hash or None, ticket.issue) if movements else _NO_HISTORY
        zone = facts.zones.get(zone_of(ticket, row))
        gate = narrowed(gate_at(post, facts.gates, at.wish.gate), post.zones)
        attempt = Attempt(
            now=at.moment.at,
            direction=at.direction,
            mode=at.mode,
            code=code,
            organisation=self._organisation,
            event=event,
            gate=gate,
            zone=zone,
            row=row,
            ticket_type=facts.types.get(type_of(ticket, row)),
            history=told.passages,
            policy=facts.policy,
            snapshot_as_of=book.as_of,
            uncertainty=at.moment.uncertainty,
            highest_issue_seen=max(highest, book.later_issue(ticket.ticket_id)),
            readiness=at.readiness,
            zone_room=self._zone_room(book, zone, at.moment),
            gate_room=self._gate_room(book, gate, at.moment),
            gates=tuple(facts.gates.values()),
            override=at.wish.override,
            doors_opened=(post.event, 0) in self._opened,
            gate_opened=gate is not None and (post.event, gate.number) in self._opened,
            local_time=local_time(event.timezone) if event else utc_words,
        )
        return Gathered(attempt, book, post, zone.number if zone else 0, told.foreign)

    def _zone_room(self, book: Book, zone: ZoneRow | None, moment: Moment) -> Room | None:
        if zone is None or zone.capacity is None or zone.kind not in _COUNTED:
            return None
        share = share_among(self._device, book.facts.devices)
        house = self.house(book, moment.at)
        return house.zone_room(zone.number, zone.capacity, moment.monotonic, share)

    def _gate_room(self, book: Book, gate: GateRow | None, moment: Moment) -> Room | None:
        if gate is None or gate.capacity is None:
            return None
        share = share_among(self._device, book.facts.devices)
        return self.house(book, moment.at).gate_room(gate.number, gate.capacity, moment.monotonic, share)

    def _other_event(self, code: ReadTicket | Refusal) -> str:
        """Words about an event that this gate still holds, though it does not serve it."""
        if not isinstance(code, ReadTicket):
            return ""
        book = self._roster.books.get(code.ticket.event_number)
        event = book.facts.event if book else None
        return "" if event is None else f"{event.name} {local_time(event.timezone)(event.starts_at, 0)}"


def everybody(connection: sqlite3.Connection, event: int) -> Iterator[tuple[int, tuple[Passage, ...]]]:
    """Every ticket that moved at an event, with what counts of it."""
    for ticket, movements in history.of_event(connection, event):
        yield ticket, passages(movements, None, None).passages


def direction_of(wish: Wish, post: Post | None) -> Direction:
    """What was asked for, else the post's; a post for both ways is an entrance until somebody says exit."""
    asked = wish.direction or (post.direction if post else "")
    return Direction.EXIT if asked == Direction.EXIT else Direction.ENTRY


def mode_of(wish: Wish, post: Post | None) -> Mode:
    """What was asked for, else the post's; a mode that this program does not know counts for nobody."""
    asked = wish.mode or (post.mode if post else Mode.REAL)
    return Mode.REAL if asked == Mode.REAL else Mode.TEST


def share_among(device: int, devices: dict[int, DeviceRow]) -> Share:
    """This device's place among those that may let people in, and how many they are."""
    numbers = sorted({row.number for row in devices.values() if not row.revoked} | {device})
    return Share(numbers.index(device), len(numbers))


def narrowed(gate: GateRow | None, zones: tuple[int, ...]) -> GateRow | None:
    """The gate as this device serves it: an assignment may name fewer zones than the gate has."""
    if gate is None or not zones:
        return gate
    kept = tuple(zone for zone in zones if not gate.zones or zone in gate.zones)
    return replace(gate, zones=kept or (0,))


def as_code(book: Book, row: TicketRow, organisation: str) -> ReadTicket:
    """A ticket that a steward looked up, as if its code had been shown."""
    return ReadTicket(as_printed(row, book.number), organisation, False, b"")
