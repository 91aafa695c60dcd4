"""Reads of scans: movements for gates; counts, occupancy, conflicts and journals for organisers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from shared.snapshot import Movement, MovementKind
from sync_server.scans.models import ConflictRow, Journal, MovementRow, Presence, ScanCount, ScanEntry

_COLUMNS = (
    MovementRow.arrival,
    MovementRow.device,
    MovementRow.branch,
    MovementRow.seq,
    MovementRow.kind,
    MovementRow.ticket,
    MovementRow.issue,
    MovementRow.code_hash,
    MovementRow.at,
    MovementRow.gate,
    MovementRow.zone,
    MovementRow.annuls_device,
    MovementRow.annuls_branch,
    MovementRow.annuls_seq,
)


@dataclass(frozen=True, slots=True)
class Count:
    """How often one gate gave one answer."""

    gate: int
    direction: str
    reason: str
    n: int


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Who is inside since some moment, by the gate they came through and the zone they went to."""

    inside: int
    by_gate: dict[int, int]
    by_zone: dict[int, int]


@dataclass(frozen=True, slots=True)
class JournalState:
    """What is known of a device's journals together."""

    held: int
    claimed: int
    quarantined: int
    alarm: str

    @property
    def missing(self) -> int:
        """Entries that the device has told of and not delivered."""
        return max(0, self.claimed - self.held)


NOTHING_YET = JournalState(0, 0, 0, "")
"""What is known of a device that never delivered anything."""


def movements_after(session: Session, event: int, heard: int, limit: int) -> tuple[int, list[Movement]]:
    """Movements as they arrived, a gate's own ones too (a new card has lost them); and how far they go."""
    following = select(*_COLUMNS).where(MovementRow.event == event, MovementRow.arrival > heard)
    rows = session.execute(following.order_by(MovementRow.arrival).limit(limit)).all()
    return (rows[-1].arrival if rows else heard), [_movement(tuple(row)) for row in rows]


def counts(session: Session, event: int) -> list[Count]:
    """Real presentations of an event by gate and answer."""
    columns = select(ScanCount.gate, ScanCount.direction, ScanCount.reason, ScanCount.n)
    rows = session.execute(columns.where(ScanCount.event == event).order_by(ScanCount.gate, ScanCount.reason))
    return [Count(*row) for row in rows]


def occupancy(session: Session, event: int, since: Millis) -> Occupancy:
    """Bodies inside: tickets whose latest movement was no earlier than `since`, the beginning of the event day."""
    here = Presence.event == event, Presence.bodies > 0, Presence.at >= since
    columns = select(Presence.gate, Presence.zone, func.sum(Presence.bodies)).where(*here)
    by_gate: dict[int, int] = {}
    by_zone: dict[int, int] = {}
    for gate, zone, bodies in session.execute(columns.group_by(Presence.gate, Presence.zone)):
        by_gate[gate] = by_gate.get(gate, 0) + int(bodies)
        by_zone[zone] = by_zone.get(zone, 0) + int(bodies)
    return Occupancy(sum(by_gate.values()), by_gate, by_zone)


def open_conflicts(
    session: Session, organisation_id: str, event: int | None, limit: int = 500
) -> Sequence[ConflictRow]:
    """What somebody must still look at, gravest first."""
    waiting = ConflictRow.resolved_at.is_(None), ConflictRow.withdrawn_at.is_(None)
    return _conflicts(session, organisation_id, event, limit, *waiting)


def all_conflicts(session: Session, organisation_id: str, event: int | None, limit: int = 500) -> Sequence[ConflictRow]:
    """The same with those that are settled."""
    return _conflicts(session, organisation_id, event, limit)


def conflict(session: Session, organisation_id: str, conflict_id: str, *, lock: bool = False) -> ConflictRow:
    """One conflict; NotFound for another organisation's too."""
    row = session.get(ConflictRow, conflict_id, with_for_update=lock or None, populate_existing=lock)
    if row is None or row.organisation_id != organisation_id:
        raise NotFound("There is no such conflict.", code="conflict_not_found")
    return row


def open_conflict_counts(session: Session, organisation_id: str) -> dict[int, int]:
    """How many conflicts wait, by event; those for information left out."""
    waiting = select(ConflictRow.event, func.count()).where(
        ConflictRow.organisation_id == organisation_id,
        ConflictRow.resolved_at.is_(None),
        ConflictRow.withdrawn_at.is_(None),
        ConflictRow.severity > 0,
    )
    return dict(session.execute(waiting.group_by(ConflictRow.event)).all())


def recent(session: Session, organisation_id: str, event: int, limit: int) -> Sequence[ScanEntry]:
    """The latest entries of an event that speak of tickets, by the time at which they were."""
    here = ScanEntry.event == event, ScanEntry.organisation_id == organisation_id, ~ScanEntry.quarantined
    shown = ScanEntry.kind.in_(("presentation", "by_hand"))
    return session.scalars(select(ScanEntry).where(*here, shown).order_by(ScanEntry.at.desc()).limit(limit)).all()


def journal_states(session: Session, organisation_id: str) -> dict[int, JournalState]:
    """What is held, told of and kept apart, by device."""
    states: dict[int, JournalState] = {}
    apart = _quarantined(session, organisation_id)
    of_organisation = select(Journal).where(Journal.organisation_id == organisation_id)
    for row in session.scalars(of_organisation.order_by(Journal.device, Journal.branch)):
        before = states.get(row.device, JournalState(0, 0, apart.get(row.device, 0), ""))
        states[row.device] = JournalState(
            before.held + row.mark_seq, before.claimed + row.claimed_seq, before.quarantined, row.alarm or before.alarm
        )
    return states


def _quarantined(session: Session, organisation_id: str) -> dict[int, int]:
    apart = select(ScanEntry.device, func.count()).where(
        ScanEntry.organisation_id == organisation_id, ScanEntry.quarantined
    )
    return dict(session.execute(apart.group_by(ScanEntry.device)).all())


def _conflicts(
    session: Session, organisation_id: str, event: int | None, limit: int, *more: Any
) -> Sequence[ConflictRow]:
    here = [ConflictRow.organisation_id == organisation_id, *more]
    if event is not None:
        here.append(ConflictRow.event == event)
    wanted = select(ConflictRow).where(*here)
    ordered = wanted.order_by(ConflictRow.severity.desc(), ConflictRow.found_at.desc(), ConflictRow.id.desc())
    return session.scalars(ordered.limit(limit)).all()


def _movement(row: tuple[Any, ...]) -> Movement:
    _, device, branch, seq, kind, ticket, issue, code_hash, at, gate, zone, *annuls = row
    taken_back = (annuls[0], annuls[1], annuls[2]) if annuls[0] is not None else None
    return Movement(
        device, branch, seq, MovementKind(kind), ticket, issue, bytes(code_hash), at, gate, zone, taken_back
    )
