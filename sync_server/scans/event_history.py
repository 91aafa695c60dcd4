"""An event's rows as they were at a gate's position or at a time, read once for a whole batch of tickets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TypeVar

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.journal.scans import Entry
from shared.wire.snapshot import (
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
from sync_server.plumbing.event_key import EventKey
from sync_server.revisions import queries, versions
from sync_server.revisions.versions import Timeline
from sync_server.scans.decisions import Decisions
from sync_server.scans.reconcile import Facts
from sync_server.tickets.keys.issued_codes import IssuedCodes

R = TypeVar("R", bound=AnyRow)

_EVENT_KINDS = (RowKind.EVENT, RowKind.GATE, RowKind.ZONE, RowKind.TICKET_TYPE, RowKind.POLICY)


@dataclass(frozen=True, slots=True)
class EventRows:
    """All rows of an event except tickets, at one revision."""

    event: EventRow | None
    gates: dict[int, GateRow]
    zones: dict[int, ZoneRow]
    types: dict[int, TicketTypeRow]
    policy: PolicyRow
    all_gates: tuple[GateRow, ...]


class EventHistory:
    """The history of one event, for the tickets of one batch: the `RowsAt` of reconciliation."""

    def __init__(
        self,
        session: Session,
        event: EventKey,
        issued_codes: IssuedCodes,
        decisions: Decisions,
        *,
        tickets: Collection[int],
        span: tuple[Millis, Millis],
    ) -> None:
        """Read all versions that scans within this span of time may need."""
        head = queries.head(session, event)
        self._issued_codes = issued_codes
        self._decisions = decisions
        self._lineage = head.lineage if head else b""
        self._newest = head.revision if head else 0
        self._versions = versions.of_kinds(session, event, _EVENT_KINDS)
        self._tickets = versions.of_rows(session, event, RowKind.TICKET, tickets)
        self._timeline: Timeline = versions.timeline(session, event, *span)
        self._changes = sorted(
            {one.revision for kind in self._versions.values() for some in kind.values() for one in some}
        )
        self._rows_by_revision: dict[int, EventRows] = {}
        self._facts: dict[tuple[int, int, int, bytes | None, tuple[bool, bool], Millis], Facts] = {}

    def at_position(self, entry: Entry) -> Facts | None:
        """The rows that the gate says it held."""
        if entry.lineage != self._lineage or not 0 < entry.revision <= self._newest:
            return None
        return self._facts_of(entry, entry.revision, self._decisions.emptied_on(entry))

    def at_time(self, entry: Entry, at: int) -> Facts:
        """The server's rows at that time."""
        return self._facts_of(entry, self._timeline.revision_at(at), self._decisions.emptied(at))

    def first_row(self, entry: Entry) -> TicketRow | None:
        """The ticket's first row."""
        present = [version for version in self._tickets.get(entry.ticket_id, ()) if version.body is not None]
        if not present:
            return None
        return self._ticket(entry.ticket_id, min(present, key=lambda version: version.revision).body)

    def code_was_issued(self, entry: Entry) -> bool:
        """Whether the code shown is that of its issue; tickets typed by hand show none."""
        if not entry.code_hash:
            return True
        return self._issued_codes.agrees(entry.ticket_id, entry.issue, entry.code_hash)

    def event_at(self, at: Millis) -> EventRow | None:
        """The event's newest row, with the decisions to empty the venue up to then."""
        return _emptied(self._rows_at(self._stretch(self._newest)).event, self._decisions.emptied(at))

    def _facts_of(self, entry: Entry, revision: int, emptied: Millis) -> Facts:
        # The same object for revisions without a relevant change: that saves deciding a scan twice.
        stretch = self._stretch(revision)
        body = versions.at_revision(self._tickets.get(entry.ticket_id, ()), revision)
        opened = self._decisions.opened(entry, 0), bool(entry.gate) and self._decisions.opened(entry, entry.gate)
        key = entry.ticket_id, entry.gate, stretch, body, opened, emptied
        facts = self._facts.get(key)
        if facts is None:
            facts = self._facts[key] = self._gather(entry, body, self._rows_at(stretch), opened, emptied)
        return facts

    def _gather(
        self, entry: Entry, body: bytes | None, rows: EventRows, opened: tuple[bool, bool], emptied: Millis
    ) -> Facts:
        row = self._ticket(entry.ticket_id, body)
        ticket = row or self.first_row(entry)
        return Facts(
            organisation=rows.event.organisation if rows.event else "",
            event=_emptied(rows.event, emptied),
            gate=rows.gates.get(entry.gate),
            zone=rows.zones.get(ticket.zone) if ticket else None,
            row=row,
            ticket_type=rows.types.get(ticket.ticket_type) if ticket else None,
            policy=rows.policy,
            as_of=0,
            gates=rows.all_gates,
            doors_opened=opened[0],
            gate_opened=opened[1],
        )

    def _stretch(self, revision: int) -> int:
        """The last revision up to this one at which rows other than tickets changed."""
        index = bisect_right(self._changes, revision)
        return self._changes[index - 1] if index else 0

    def _rows_at(self, revision: int) -> EventRows:
        rows = self._rows_by_revision.get(revision)
        if rows is None:
            rows = self._rows_by_revision[revision] = self._build(revision)
        return rows

    def _build(self, revision: int) -> EventRows:
        gates = self._of(RowKind.GATE, revision, GateRow)
        return EventRows(
            event=next(iter(self._of(RowKind.EVENT, revision, EventRow).values()), None),
            gates=gates,
            all_gates=tuple(gates.values()),
            zones=self._of(RowKind.ZONE, revision, ZoneRow),
            types=self._of(RowKind.TICKET_TYPE, revision, TicketTypeRow),
            # The age limit of snapshots is for gates: the server has its rows as of every moment.
            policy=replace(self._of(RowKind.POLICY, revision, PolicyRow).get(0, PolicyRow()), max_snapshot_age_ms=None),
        )

    def _of(self, kind: RowKind, revision: int, value: type[R]) -> dict[int, R]:
        found: dict[int, R] = {}
        for key, row_versions in self._versions[kind].items():
            body = versions.at_revision(row_versions, revision)
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
    """The event with `counts_from` set to this time, unless it is later already."""
    return event if event is None or (event.counts_from or 0) >= at else replace(event, counts_from=at)


def ticket_numbers(session: Session, event: EventKey, tickets: Collection[int]) -> dict[int, str]:
    """The printed numbers of these tickets."""
    numbers: dict[int, str] = {}
    for key, row_versions in versions.of_rows(session, event, RowKind.TICKET, tickets).items():
        bodies = [one.body for one in sorted(row_versions, key=lambda one: one.revision) if one.body is not None]
        row = unpack(Row(RowKind.TICKET, key, bodies[-1])) if bodies else None
        if isinstance(row, TicketRow):
            numbers[key] = row.number
    return numbers
