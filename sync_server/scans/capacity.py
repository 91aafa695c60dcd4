"""Finds entries made when a zone or gate was full, from the movements of all gates together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import and_, select, tuple_
from sqlalchemy.orm import Session

from shared.admission import Direction, Passage
from shared.capacity import COUNTED_ZONES
from shared.clock import Millis
from shared.reasons import Reason
from shared.scans import decode
from shared.snapshot import GateRow, MovementKind, RowKind, ZoneRow, unpack
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.principals import ActionContext
from sync_server.revisions import queries as revisions
from sync_server.scans import conflicts
from sync_server.scans.conflicts import FoundConflict, StoredScan
from sync_server.scans.crowding import Step, by_gate, by_zone, crowd
from sync_server.scans.models import ConflictRow, MovementRow, ScanEntry
from sync_server.scans.reconcile import Conflict, ConflictKind, Judged

_NEWEST = 2**62
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
    """Checks the events with movements since the last round."""

    checked: dict[EventKey, int] = field(default_factory=dict)

    def run(self, session: Session, context: ActionContext) -> None:
        """Check all events with new movements."""
        for event, arrivals in sorted(self._moved(session).items()):
            check(session, event, context.now)
            self.checked[event] = arrivals

    def anything_moved(self, session: Session, _now: Millis) -> bool:
        """Whether `run` has anything to check."""
        return bool(self._moved(session))

    def _moved(self, session: Session) -> dict[EventKey, int]:
        arrivals = revisions.arrivals(session)
        return {event: arrived for event, arrived in arrivals.items() if self.checked.get(event) != arrived}


def check(session: Session, event: EventKey, now: Millis) -> None:
    """Store over-capacity conflicts of an event; withdraw those that no longer hold."""
    zones, gates = _limits(session, event)
    previous = event.of(ConflictRow), ConflictRow.kind == ConflictKind.OVER_CAPACITY
    found = _overfull(session, event, zones, gates, now) if zones or gates else []
    conflicts.store_among(session, event.organisation_id, previous, found, now)


def _overfull(
    session: Session, event: EventKey, zones: Mapping[int, int], gates: Mapping[int, int], now: Millis
) -> list[FoundConflict]:
    event_row = revisions.event_row(session, event)
    if event_row is None:
        return []
    steps = _steps(session, event)
    full_zones = crowd(steps, by_zone, zones, event_row, now).too_many
    full_gates = crowd(steps, by_gate, gates, event_row, now).too_many
    reasons = {_identity(step.passage): Reason.GATE_FULL for step in full_gates}
    reasons |= {_identity(step.passage): Reason.ZONE_FULL for step in full_zones}
    return _conflicts(session, event, reasons)


def _limits(session: Session, event: EventKey) -> tuple[dict[int, int], dict[int, int]]:
    """Capacities by zone and gate; zones with reserved seats have none."""
    rows = [
        unpack(row)
        for kind in (RowKind.ZONE, RowKind.GATE)
        for row in revisions.rows_at_revision(session, event, kind, _NEWEST)
    ]
    zones = [row for row in rows if isinstance(row, ZoneRow) and row.kind in COUNTED_ZONES]
    gates = [row for row in rows if isinstance(row, GateRow)]
    return (
        {zone.number: zone.capacity for zone in zones if zone.capacity is not None},
        {gate.number: gate.capacity for gate in gates if gate.capacity is not None},
    )


def _steps(session: Session, event: EventKey) -> list[Step]:
    """All counted movements at their corrected times, duplicates marked."""
    columns = select(MovementRow, ScanEntry.at).join(ScanEntry, _SAME_ENTRY).where(event.of(MovementRow))
    rows = session.execute(columns.where(~ScanEntry.quarantined)).all()
    annulled = {(one.annuls_device, one.annuls_branch, one.annuls_seq) for one, _ in rows}
    duplicates = _duplicates(session, event)
    return [
        Step(one.ticket, _passage(one, at), (one.device, one.branch, one.seq) in duplicates)
        for one, at in rows
        if one.kind != MovementKind.ANNULMENT and (one.device, one.branch, one.seq) not in annulled
    ]


def _passage(one: MovementRow, at: Millis) -> Passage:
    direction = Direction.ENTRY if one.kind == MovementKind.ENTRY else Direction.EXIT
    return Passage(at, one.device, one.branch, one.seq, direction, one.gate, one.zone)


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
    if not reasons:
        return []
    named = tuple_(ScanEntry.device, ScanEntry.branch, ScanEntry.seq).in_(list(reasons))
    found: list[FoundConflict] = []
    for row in session.scalars(select(ScanEntry).where(event.of(ScanEntry), named)):
        judged = Judged(decode(row.body), row.at, row.uncertainty)
        if judged.entry.override_denial not in _FULL:  # else a supervisor admitted them knowing that it was full
            conflict = Conflict(ConflictKind.OVER_CAPACITY, judged, reasons[row.device, row.branch, row.seq])
            found.append(FoundConflict(event.event_id, row.ticket, conflict, [StoredScan(judged, row.hash)]))
    return found
