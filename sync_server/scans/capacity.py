"""Finds entries that were made when a zone or gate was full: only everybody's movements together can tell."""

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
from shared.snapshot import EventRow, GateRow, MovementKind, RowKind, ZoneRow, unpack
from sync_server.plumbing.principals import Deed
from sync_server.revisions import queries as revisions
from sync_server.scans import conflicts
from sync_server.scans.conflicts import Found, Known
from sync_server.scans.crowding import Step, by_gate, by_zone, crowd
from sync_server.scans.models import ConflictRow, MovementRow, ScanCount, ScanEntry
from sync_server.scans.reconcile import Conflict, ConflictKind, Judged
from sync_server.scans.rows_at import organisations_of

_NEWEST = 2**62
_FULL = {Reason.ZONE_FULL.value, Reason.GATE_FULL.value}
_SAME_ENTRY = and_(
    ScanEntry.device == MovementRow.device,
    ScanEntry.branch == MovementRow.branch,
    ScanEntry.seq == MovementRow.seq,
    ScanEntry.hash == MovementRow.hash,
)
Identity = tuple[int, int, int]


@dataclass(slots=True)
class CapacityWatch:
    """Looks at the events where somebody has moved since it looked last."""

    looked_at: dict[int, int] = field(default_factory=dict)

    def run(self, session: Session, deed: Deed) -> None:
        """One round over all events with scans."""
        events = session.scalars(select(ScanCount.event).distinct()).all()
        owners = organisations_of(session, events)
        for event, (_, arrivals) in sorted(revisions.heads(session, events).items()):
            if event in owners and self.looked_at.get(event) != arrivals:
                check(session, owners[event], event, deed.now)
                self.looked_at[event] = arrivals


def check(session: Session, organisation_id: str, event: int, now: Millis) -> None:
    """Write down which entries of an event found their zone or gate full; withdraw those that did not after all."""
    zones, gates = _limits(session, event)
    known = ConflictRow.event == event, ConflictRow.kind == ConflictKind.OVER_CAPACITY
    found = _overfull(session, event, zones, gates, now) if zones or gates else []
    conflicts.keep_among(session, organisation_id, known, found, now)


def _overfull(
    session: Session, event: int, zones: Mapping[int, int], gates: Mapping[int, int], now: Millis
) -> list[Found]:
    row = revisions.row_at_revision(session, event, RowKind.EVENT, event, _NEWEST)
    facts = unpack(row) if row else None
    if not isinstance(facts, EventRow):
        return []
    steps = _steps(session, event)
    full_zones = crowd(steps, by_zone, zones, facts, now).too_many
    full_gates = crowd(steps, by_gate, gates, facts, now).too_many
    places = {_place(step.passage): Reason.GATE_FULL for step in full_gates}
    places |= {_place(step.passage): Reason.ZONE_FULL for step in full_zones}
    return _told(session, event, places)


def _limits(session: Session, event: int) -> tuple[dict[int, int], dict[int, int]]:
    """Capacities by zone and gate; a reserved seat is its own capacity."""
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


def _steps(session: Session, event: int) -> list[Step]:
    """Everybody's counted movements at their corrected times, doubled tickets marked."""
    columns = select(MovementRow, ScanEntry.at).join(ScanEntry, _SAME_ENTRY).where(MovementRow.event == event)
    rows = session.execute(columns.where(~ScanEntry.quarantined)).all()
    annulled = {(one.annuls_device, one.annuls_branch, one.annuls_seq) for one, _ in rows}
    doubled = _doubled(session, event)
    return [
        Step(one.ticket, _passage(one, at), (one.device, one.branch, one.seq) in doubled)
        for one, at in rows
        if one.kind != MovementKind.ANNULMENT and (one.device, one.branch, one.seq) not in annulled
    ]


def _passage(one: MovementRow, at: Millis) -> Passage:
    way = Direction.ENTRY if one.kind == MovementKind.ENTRY else Direction.EXIT
    return Passage(at, one.device, one.branch, one.seq, way, one.gate, one.zone)


def _doubled(session: Session, event: int) -> set[Identity]:
    standing = (
        ConflictRow.event == event,
        ConflictRow.kind == ConflictKind.DUPLICATE,
        ConflictRow.withdrawn_at.is_(None),
    )
    scans = session.scalars(select(ConflictRow.scans).where(*standing))
    return {(first["device"], first["branch"], first["seq"]) for first, *_ in scans}


def _place(passage: Passage) -> Identity:
    return passage.device, passage.branch, passage.seq


def _told(session: Session, event: int, places: Mapping[Identity, Reason]) -> list[Found]:
    if not places:
        return []
    named = tuple_(ScanEntry.device, ScanEntry.branch, ScanEntry.seq).in_(list(places))
    found: list[Found] = []
    for row in session.scalars(select(ScanEntry).where(ScanEntry.event == event, named)):
        judged = Judged(decode(row.body), row.at, row.uncertainty)
        if judged.entry.override_denial not in _FULL:  # a supervisor let them in knowing that it was full
            conflict = Conflict(ConflictKind.OVER_CAPACITY, judged, places[row.device, row.branch, row.seq])
            found.append(Found(event, row.ticket, conflict, [Known(judged, row.hash)]))
    return found
