"""Finds entries made when a zone or gate was full, from the movements of all gates together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import and_, exists, select, tuple_
from sqlalchemy.orm import Session

from shared.admission import Direction, Passage
from shared.capacity import COUNTED_ZONES
from shared.clock import Millis
from shared.reasons import Reason
from shared.scans import decode
from shared.snapshot import GateRow, MovementKind, RowKind, ZoneRow, unpack
from sync_server.plumbing.database import Database
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.jobs import MORE
from sync_server.plumbing.principals import ActionContext
from sync_server.revisions import queries as revisions
from sync_server.scans import conflicts
from sync_server.scans.conflicts import FoundConflict, StoredScan
from sync_server.scans.crowding import Occupancy, Step, by_gate, by_zone
from sync_server.scans.models import ConflictRow, MovementRow, ScanEntry
from sync_server.scans.reconcile import Conflict, ConflictKind, Judged

REST: Final = 20
"""After a check an event rests so many times as long as that took: it costs a twentieth of a processor at most."""
_CHUNK = 500
_FULL = {Reason.ZONE_FULL.value, Reason.GATE_FULL.value}
_SAME_ENTRY = and_(
    ScanEntry.organisation_id == MovementRow.organisation_id,
    ScanEntry.device == MovementRow.device,
    ScanEntry.branch == MovementRow.branch,
    ScanEntry.seq == MovementRow.seq,
    ScanEntry.hash == MovementRow.hash,
)
Identity = tuple[int, int, int]


@dataclass(slots=True)
class CapacityWatch:
    """Checks the events with movements since the last round, each at most a twentieth of the time."""

    checked: dict[EventKey, int] = field(default_factory=dict)
    resting: dict[EventKey, Millis] = field(default_factory=dict)

    def run(self, database: Database, context: ActionContext) -> object:
        """Check the next event with new movements; MORE while there are others."""
        with database.autocommit_reading() as session:
            moved = sorted(self._moved(session, context.now).items())
        for event, arrivals in moved[:1]:
            began = database.clock()
            check(database, event, context.now)
            took = database.clock() - began
            self.checked[event], self.resting[event] = arrivals, began + REST * took
        return MORE if len(moved) > 1 else None

    def anything_moved(self, session: Session, now: Millis) -> bool:
        """Whether `run` has anything to check."""
        return bool(self._moved(session, now))

    def _moved(self, session: Session, now: Millis) -> dict[EventKey, int]:
        arrivals = revisions.arrivals(session)
        return {
            event: arrived
            for event, arrived in arrivals.items()
            if self.checked.get(event) != arrived and self.resting.get(event, 0) <= now
        }


def check(database: Database, event: EventKey, now: Millis) -> None:
    """Store over-capacity conflicts of an event; withdraw those that no longer hold.

    Reads without a lock, and writes only what it has found: others write meanwhile.
    """
    with database.reading() as session:
        zones, gates = _limits(session, event)
        found = _overfull(session, event, zones, gates) if zones or gates else []
        previous = event.of(ConflictRow), ConflictRow.kind == ConflictKind.OVER_CAPACITY
        any_before = session.scalar(select(exists().where(*previous)))
    if found or any_before:
        with database.writing() as session:
            conflicts.store_among(session, event.organisation_id, previous, found, now)


def _overfull(
    session: Session, event: EventKey, zones: Mapping[int, int], gates: Mapping[int, int]
) -> list[FoundConflict]:
    event_row = revisions.event_row(session, event)
    if event_row is None:
        return []
    full_zones, full_gates = Occupancy(by_zone, zones, event_row), Occupancy(by_gate, gates, event_row)
    watched = [one for one in (full_zones, full_gates) if one.limits]
    for step in _steps(session, event):
        for one in watched:
            one.take(step)
    reasons = {_identity(step.passage): Reason.GATE_FULL for step in full_gates.too_many}
    reasons |= {_identity(step.passage): Reason.ZONE_FULL for step in full_zones.too_many}
    return _conflicts(session, event, reasons)


def _limits(session: Session, event: EventKey) -> tuple[dict[int, int], dict[int, int]]:
    """Capacities by zone and gate; zones with reserved seats have none."""
    rows = [unpack(row) for kind in (RowKind.ZONE, RowKind.GATE) for row in revisions.rows_now(session, event, kind)]
    zones = [row for row in rows if isinstance(row, ZoneRow) and row.kind in COUNTED_ZONES]
    gates = [row for row in rows if isinstance(row, GateRow)]
    return (
        {zone.number: zone.capacity for zone in zones if zone.capacity is not None},
        {gate.number: gate.capacity for gate in gates if gate.capacity is not None},
    )


def _steps(session: Session, event: EventKey) -> Iterator[Step]:
    """All counted movements in order of their corrected times, duplicates marked: read as they are used."""
    annulled, duplicates = _annulled(session, event), _duplicates(session, event)
    one = MovementRow
    columns = select(ScanEntry.at, one.device, one.branch, one.seq, one.kind, one.gate, one.zone, one.ticket)
    counted = event.of(one), ~ScanEntry.quarantined, one.kind != MovementKind.ANNULMENT
    ordered = columns.join(ScanEntry, _SAME_ENTRY).where(*counted).order_by(*columns.selected_columns[:4], one.ticket)
    rows = session.execute(ordered.execution_options(yield_per=2_000))
    for at, device, branch, seq, kind, gate, zone, ticket in rows:
        identity = device, branch, seq
        if identity not in annulled:
            direction = Direction.ENTRY if kind == MovementKind.ENTRY else Direction.EXIT
            yield Step(ticket, Passage(at, *identity, direction, gate, zone), identity in duplicates)


def _annulled(session: Session, event: EventKey) -> set[Identity]:
    one = MovementRow
    columns = select(one.annuls_device, one.annuls_branch, one.annuls_seq).join(ScanEntry, _SAME_ENTRY)
    rows = session.execute(columns.where(event.of(one), ~ScanEntry.quarantined, one.annuls_device.is_not(None)))
    return {(device or 0, branch or 0, seq or 0) for device, branch, seq in rows}


def _duplicates(session: Session, event: EventKey) -> set[Identity]:
    conditions = (
        event.of(ConflictRow),
        ConflictRow.kind == ConflictKind.DUPLICATE,
        ConflictRow.withdrawn_at.is_(None),
    )
    scans = session.scalars(select(ConflictRow.scans).where(*conditions))
    return {(first["device"], first["branch"], first["seq"]) for first, *_ in scans}


def _identity(passage: Passage) -> Identity:
    return passage.device, passage.branch, passage.seq


def _conflicts(session: Session, event: EventKey, reasons: Mapping[Identity, Reason]) -> list[FoundConflict]:
    found: list[FoundConflict] = []
    for row in _entries(session, event, sorted(reasons)):
        judged = Judged(decode(row.body), row.at, row.uncertainty)
        if judged.entry.override_denial not in _FULL:  # else a supervisor admitted them knowing that it was full
            conflict = Conflict(ConflictKind.OVER_CAPACITY, judged, reasons[row.device, row.branch, row.seq])
            found.append(FoundConflict(event.event_id, row.ticket, conflict, [StoredScan(judged, row.hash)]))
    return found


def _entries(session: Session, event: EventKey, identities: Sequence[Identity]) -> Iterator[ScanEntry]:
    for start in range(0, len(identities), _CHUNK):  # a statement takes only so many values
        named = tuple_(ScanEntry.device, ScanEntry.branch, ScanEntry.seq).in_(identities[start : start + _CHUNK])
        yield from session.scalars(select(ScanEntry).where(event.of(ScanEntry), named))
