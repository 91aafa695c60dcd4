"""The server's rows as they were at a gate's position or at a time, read once for a whole batch of tickets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TypeVar

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.scans import Entry
from shared.snapshot import (
    AnyRow,
    EventRow,
    GateRow,
    PolicyRow,
    Row,
    RowKind,
    TicketRow,
    TicketTypeRow,
    ZoneRow,
    unpack,
)
from sync_server.revisions import queries, versions
from sync_server.revisions.versions import Timeline
from sync_server.scans.decisions import Decisions
from sync_server.scans.reconcile import Facts
from sync_server.tickets.handed_out import HandedOut

R = TypeVar("R", bound=AnyRow)

_NEWEST = 2**62  # above every revision
_HOUSE = (RowKind.EVENT, RowKind.GATE, RowKind.ZONE, RowKind.TICKET_TYPE, RowKind.POLICY)


@dataclass(frozen=True, slots=True)
class House:
    """Everything about an event but its tickets, at one revision."""

    event: EventRow | None
    gates: dict[int, GateRow]
    zones: dict[int, ZoneRow]
    types: dict[int, TicketTypeRow]
    policy: PolicyRow


class EventPast:
    """What one event was, for the tickets of one batch: the `RowsAt` of reconciliation."""

    def __init__(
        self,
        session: Session,
        event: int,
        handed_out: HandedOut,
        decisions: Decisions,
        *,
        tickets: Collection[int],
        span: tuple[Millis, Millis],
    ) -> None:
        """Reads all versions that scans of this span of time may ask for."""
        head = queries.head(session, event)
        self._event = event
        self._handed_out = handed_out
        self._decisions = decisions
        self._lineage = head.lineage if head else b""
        self._newest = head.revision if head else 0
        self._house = {kind: versions.of_kind(session, event, kind) for kind in _HOUSE}
        self._tickets = versions.of_rows(session, event, RowKind.TICKET, tickets)
        self._timeline: Timeline = versions.timeline(session, event, *span)
        self._changes = sorted(
            {one.revision for kind in self._house.values() for some in kind.values() for one in some}
        )
        self._houses: dict[int, House] = {}
        self._facts: dict[tuple[int, int, int, bytes | None, tuple[bool, bool], Millis], Facts] = {}

    def at_position(self, entry: Entry) -> Facts | None:
        """The rows that the gate says it held."""
        if entry.lineage != self._lineage or not 0 < entry.revision <= self._newest:
            return None
        return self._facts_of(entry, entry.revision, self._decisions.emptied_on(entry))

    def at_time(self, entry: Entry, at: int) -> Facts:
        """The server's rows at that time."""
        return self._facts_of(entry, self._timeline.revision_at(at), self._decisions.emptied(at))

    def first_words(self, entry: Entry) -> TicketRow | None:
        """What the server first said of this ticket."""
        known = [version for version in self._tickets.get(entry.ticket_id, ()) if version.body is not None]
        if not known:
            return None
        return self._ticket(entry.ticket_id, min(known, key=lambda version: version.revision).body)

    def was_handed_out(self, entry: Entry) -> bool:
        """Whether the code shown is that of its issue; what was typed by hand showed none."""
        if not entry.code_hash:
            return True
        return self._handed_out.agrees(entry.ticket_id, entry.issue, entry.code_hash)

    def event_at(self, at: Millis) -> EventRow | None:
        """The event by its newest row, its house emptied as often as it was by then."""
        return _emptied(self._house_at(self._stretch(self._newest)).event, self._decisions.emptied(at))

    def _facts_of(self, entry: Entry, revision: int, emptied: Millis) -> Facts:
        # The same object for every revision in which nothing here changed: that saves judging a scan twice.
        stretch = self._stretch(revision)
        body = versions.at_revision(self._tickets.get(entry.ticket_id, ()), revision)
        opened = self._decisions.opened(entry, 0), bool(entry.gate) and self._decisions.opened(entry, entry.gate)
        name = entry.ticket_id, entry.gate, stretch, body, opened, emptied
        facts = self._facts.get(name)
        if facts is None:
            said = self._gather(entry, body, self._house_at(stretch))
            doors, gate = opened
            event = _emptied(said.event, emptied)
            facts = self._facts[name] = replace(said, event=event, doors_opened=doors, gate_opened=gate)
        return facts

    def _gather(self, entry: Entry, body: bytes | None, house: House) -> Facts:
        row = self._ticket(entry.ticket_id, body)
        words = row or self.first_words(entry)
        return Facts(
            organisation=house.event.organisation if house.event else "",
            event=house.event,
            gate=house.gates.get(entry.gate),
            zone=house.zones.get(words.zone) if words else None,
            row=row,
            ticket_type=house.types.get(words.ticket_type) if words else None,
            policy=house.policy,
            as_of=0,
            gates=tuple(house.gates.values()),
        )

    def _stretch(self, revision: int) -> int:
        """The last revision up to this one at which the house changed."""
        place = bisect_right(self._changes, revision)
        return self._changes[place - 1] if place else 0

    def _house_at(self, revision: int) -> House:
        house = self._houses.get(revision)
        if house is None:
            house = self._houses[revision] = self._build(revision)
        return house

    def _build(self, revision: int) -> House:
        return House(
            event=self._of(RowKind.EVENT, revision, EventRow).get(self._event),
            gates=self._of(RowKind.GATE, revision, GateRow),
            zones=self._of(RowKind.ZONE, revision, ZoneRow),
            types=self._of(RowKind.TICKET_TYPE, revision, TicketTypeRow),
            # How old a gate's rows were is the gate's own affair: the server knows them as of every moment.
            policy=replace(self._of(RowKind.POLICY, revision, PolicyRow).get(0, PolicyRow()), max_snapshot_age_ms=None),
        )

    def _of(self, kind: RowKind, revision: int, value: type[R]) -> dict[int, R]:
        found: dict[int, R] = {}
        for key, known in self._house[kind].items():
            body = versions.at_revision(known, revision)
            row = unpack(Row(kind, key, body)) if body is not None else None
            if isinstance(row, value):
                found[key] = row
        return found

    def _ticket(self, key: int, body: bytes | None) -> TicketRow | None:
        if body is None:
            return None
        row = unpack(Row(RowKind.TICKET, key, body))
        return row if isinstance(row, TicketRow) else None


def _emptied(event: EventRow | None, at: Millis) -> EventRow | None:
    """The event as it counts from that moment on, unless it counts from a later one already."""
    return event if event is None or (event.counts_from or 0) >= at else replace(event, counts_from=at)


def organisations_of(session: Session, events: Collection[int]) -> dict[int, str]:
    """Whose each of these events is; numbers of no event are left out."""
    owners: dict[int, str] = {}
    for event in events:
        row = queries.row_at_revision(session, event, RowKind.EVENT, event, _NEWEST)
        known = unpack(row) if row else None
        if isinstance(known, EventRow):
            owners[event] = known.organisation
    return owners


def ticket_numbers(session: Session, event: int, tickets: Collection[int]) -> dict[int, str]:
    """The numbers that people know these tickets by."""
    numbers: dict[int, str] = {}
    for key, known in versions.of_rows(session, event, RowKind.TICKET, tickets).items():
        bodies = [one.body for one in sorted(known, key=lambda one: one.revision) if one.body is not None]
        row = unpack(Row(RowKind.TICKET, key, bodies[-1])) if bodies else None
        if isinstance(row, TicketRow):
            numbers[key] = row.number
    return numbers
