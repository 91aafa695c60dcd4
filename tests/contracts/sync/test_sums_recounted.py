"""Sums of who went in and out say what a recomputation from the journals says, whatever happens in any order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from shared.claims import Entitlement
from shared.journal.scans import EntryKind, decode, movement_of
from shared.movements import attendance, passages
from shared.wire.rows import EventDay, EventRow, GateRow, ZoneRow
from shared.wire.snapshot import Movement
from sync_server.monitoring.sum_checks import ALL_SUMS
from sync_server.revisions import queries as revisions
from sync_server.scans import queries
from sync_server.scans.attendance import basis as bases
from sync_server.scans.attendance.days import on_day
from sync_server.scans.attendance.moves import Move, by_gate, by_zone, crowd
from sync_server.scans.attendance.steps import unpack
from sync_server.scans.crowds.watch import Checked, check
from sync_server.scans.models import Presence, ScanEntry
from tests.contracts.sync.gates import HOUR, NOON, Gate
from tests.contracts.sync.world import EventAtVenue, World, a_ticket_row

MINUTE = 60_000
TICKETS = 6
LIMIT = 2
_SHOWN: dict[str, dict[str, Any]] = {
    "enter": {},
    "override": {"reason": "admitted_override", "override_by": 1, "override_denial": "zone_full"},
    "leave": {"direction": "exit", "reason": "exited"},
}


class Night:
    """Two gates of one event into zones with room for two; the second gate's clock is seven minutes fast."""

    def __init__(self, world: World, number: int) -> None:
        self.world = world
        world.now = NOON + (number - 7) * 24 * HOUR
        self.event: EventAtVenue = world.an_event(world.organisation, number=number)
        world.event = self.event
        self.checked: Checked | None = None
        self.tickets = [number * 100 + each for each in range(TICKETS)]
        again = {"entitlement": Entitlement.UNLIMITED_REENTRY}
        world.put([replace(a_ticket_row(id), **(again if id % 2 else {})) for id in self.tickets])
        world.put([ZoneRow(1, "Floor", "ga_standing", capacity=LIMIT), ZoneRow(2, "Balcony", "ga_standing")])
        world.put([GateRow(1, "G1", "Main entrance", capacity=LIMIT + 1), GateRow(2, "G2", "Quay side")])
        cut = world.now + 3 * HOUR + 30_500
        days = (EventDay("2026-07-04", cut - 24 * HOUR, cut), EventDay("2026-07-05", cut, cut + 24 * HOUR))
        self.change(days=days)
        self.gates = [
            world.a_gate(f"W{number}", event=self.event),
            world.a_gate(f"E{number}", gate=2, event=self.event),
        ]
        self.west.anchor()

    @property
    def west(self) -> Gate:
        return self.gates[0]

    def change(self, **fields: Any) -> None:
        """Other days, or counting from another moment on."""
        with self.world.parts.database.reading() as session:
            row = revisions.event_row(session, self.event.key)
        assert isinstance(row, EventRow)
        self.world.put([replace(row, **fields)])

    def act(self, what: str, which: int, who: int) -> None:
        """Something happens at one of the gates, with one of the tickets."""
        gate, world = self.gates[which], self.world
        clock = {"event": self.event.number, "wall": world.now + which * 7 * MINUTE}
        others = {
            "hour": lambda: world.advance(minutes=61),
            "anchor": gate.anchor,
            "empty": lambda: self.change(counts_from=world.now),
            "limit": lambda: world.put([ZoneRow(2, "Balcony", "ga_standing", capacity=who)]),
            "upload": gate.upload,
            "upload late part": lambda: gate.upload(gate.bodies[len(gate.bodies) // 2 :]),
            "check": self.check,
        }
        if what in others:
            others[what]()
        elif what == "annul" and gate.bodies:
            last = decode(gate.bodies[-1])
            details = {"annuls": [gate.number, gate.branch, last.seq]}
            gate.write(kind=EntryKind.ANNULMENT, ticket_id=last.ticket_id, details=details, **clock)
        elif what in _SHOWN:
            gate.admit(self.tickets[who], details={"zone": 1 + who // 4}, **clock, **_SHOWN[what])

    def check(self) -> None:
        """The worker's round."""
        self.checked = check(self.world.parts.database, self.event.key, self.world.now, self.checked)

    def end(self) -> None:
        """All is delivered, and the worker has been there."""
        for gate in self.gates:
            gate.admit(self.tickets[0], event=self.event.number, wall=self.world.now, details={"zone": 2})
            gate.upload()
        self.check()


def counted(night: Night) -> dict[int, list[tuple[int, int, int]]]:
    """By ticket, the identities that the reconciliation of its entries counted."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    with night.world.parts.database.reading() as session:
        rows = session.execute(select(Presence.ticket, Presence.steps).where(night.event.key.of(Presence)))
        for ticket, steps in rows:
            found[ticket] = [(one.passage.device, one.passage.branch, one.passage.seq) for one in unpack(ticket, steps)]
    return found


def movements(night: Night) -> dict[int, list[Movement]]:
    """By ticket, what its entries say of it, at their corrected times."""
    found: dict[int, list[Movement]] = defaultdict(list)
    with night.world.parts.database.reading() as session:
        rows = session.scalars(select(ScanEntry).where(night.event.key.of(ScanEntry), ~ScanEntry.quarantined)).all()
    for row in rows:
        movement = movement_of(decode(row.body), row.at)
        if movement is not None:
            found[movement.ticket_id].append(movement)
    return found


def overfull(night: Night) -> set[tuple[int, int, int]]:
    """The entries beyond capacity, by everybody's steps together."""
    with night.world.parts.database.reading() as session:
        basis, limits = bases.current(session, night.event.key), bases.limits_of(session, night.event.key)
        rows = session.execute(select(Presence.ticket, Presence.steps).where(night.event.key.of(Presence))).all()
        bodies = session.scalars(select(ScanEntry.body).where(night.event.key.of(ScanEntry))).all()
    steps = [step for ticket, packed in rows for step in unpack(ticket, packed)]
    beyond: list[Move] = []
    for place, room in ((by_zone, limits.zones), (by_gate, limits.gates)):
        beyond += crowd(steps, place, room, basis, night.world.now).too_many
    entries = [decode(body) for body in bodies]
    knew = {(one.device, one.branch, one.seq) for one in entries if one.override_denial}
    return {move.identity for move in beyond} - knew


def told(night: Night) -> set[tuple[int, int, int]]:
    """The entries of the conflicts that are open."""
    with night.world.parts.database.reading() as session:
        rows = queries.open_conflicts(session, night.event.key)
        scans = [row.scans[0] for row in rows if row.kind == "over_capacity"]
    return {(one["device"], one["branch"], one["seq"]) for one in scans}


def days_by_movements(night: Night) -> list[Counter[tuple[int, bool]]]:
    """Who came on each day, as gates tell it: by the movements of each ticket alone."""
    with night.world.parts.database.reading() as session:
        event = revisions.event_row(session, night.event.key)
    assert event is not None
    found: list[Counter[tuple[int, bool]]] = []
    for day in event.days:
        here: Counter[tuple[int, bool]] = Counter()
        for some in movements(night).values():
            earlier = tuple(one for one in passages(some, None, None).passages if one.at < day.until)
            came = attendance(earlier, event, day.until - 1)
            if came.today:
                here[came.today[-1].zone, came.inside_by is not None] += 1
        found.append(here)
    return found


def days_told(night: Night, named: tuple[int, ...] = ()) -> list[Counter[tuple[int, bool]]]:
    """What the page of each day says."""
    with night.world.parts.database.reading() as session:
        event = revisions.event_row(session, night.event.key)
        assert event is not None
        found = [on_day(session, night.event.key, day, named) for day in event.days]
    return [Counter(map(tuple, (*one.others.elements(), *one.named.values()))) for one in found]


@pytest.fixture
def numbers() -> Iterator[int]:
    """Numbers of events."""
    return count(8)


ACTIONS = (
    ("enter",) * 5
    + ("leave", "leave", "override", "annul", "hour", "anchor", "empty", "limit")
    + ("upload", "upload late part", "check", "check")
)
HAPPENS = st.tuples(st.sampled_from(ACTIONS), st.integers(0, 1), st.integers(0, TICKETS - 1))


def test_whatever_happens_the_sums_are_those_of_the_journals(world: World, numbers: Iterator[int]) -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=12)
    @given(st.lists(HAPPENS, min_size=10, max_size=40))
    def happen(what: list[tuple[str, int, int]]) -> None:
        night = Night(world, next(numbers))
        for action in what:
            night.act(*action)
        night.end()
        with world.parts.database.reading() as session:
            wrong = {one.name: one.differences(session, night.event.key) for one in ALL_SUMS}
        assert {name: some for name, some in wrong.items() if some} == {}
        assert told(night) == overfull(night)
        expected = days_by_movements(night)
        assert days_told(night) == expected
        assert days_told(night, tuple(night.tickets[::2])) == expected
        night.change(days=())
        assert days_told(night) == []
        seen.update(overfull=len(told(night)), came=sum(map(len, counted(night).values())))

    happen()
    assert seen["came"] > 0


def test_a_process_that_remembers_tells_what_a_new_one_would(world: World, tmp_path: Path) -> None:
    night = Night(world, 8)
    for who in (0, 1, 2, 3):
        night.act("enter", 0, who)
    night.west.upload()
    night.check()
    first = told(night)
    remembered = night.checked
    assert len(first) == LIMIT and remembered
    night.checked = None
    night.check()
    assert told(night) == first
    # One left before the others came, as the second gate knew all the time.
    night.act("leave", 1, 0)
    night.gates[1].upload()
    night.checked = remembered
    night.check()
    assert told(night) == overfull(night)
