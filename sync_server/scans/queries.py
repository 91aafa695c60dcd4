"""Reads of scans: movements for gates; counts, occupancy, conflicts and journals for organisers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, func, literal, select, tuple_
from sqlalchemy.orm import Session, aliased

from shared.clock import Millis
from shared.errors import NotFound
from shared.wire.snapshot import Movement, MovementKind
from sync_server.plumbing.api.pagination import Page, decode_cursor, paginate
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.bulk import among
from sync_server.scans.models import QUARANTINED, UNRESOLVED, ConflictRow, Journal, MovementRow, ScanCount, ScanEntry

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

ADMITTED: Final = frozenset({"admitted", "admitted_reentry", "admitted_override"})
"""The answers that let somebody in."""
PASSED: Final = ADMITTED | {"exited"}
"""The answers that let somebody pass; all others are refusals."""

PRESENTED: Final = ("presentation", "by_hand")
"""The kinds of entries that are scans of tickets."""


@dataclass(frozen=True, slots=True)
class Count:
    """How often one gate gave one answer."""

    gate: int
    direction: str
    reason: str
    n: int


@dataclass(frozen=True, slots=True)
class JournalState:
    """The state of all journals of a device together."""

    held: int
    claimed: int
    quarantined: int
    alarm: str

    @property
    def missing(self) -> int:
        """Entries that the device has claimed and not delivered."""
        return max(0, self.claimed - self.held)


EMPTY_JOURNAL = JournalState(0, 0, 0, "")
"""The state of a device that has delivered nothing."""


def movements_after(session: Session, event: EventKey, after: int, limit: int) -> tuple[int, list[Movement]]:
    """Movements in order of arrival, including a gate's own (a new card has lost them), and the last arrival number."""
    later = select(*_COLUMNS).where(event.of(MovementRow), MovementRow.arrival > after)
    rows = session.execute(later.order_by(MovementRow.arrival).limit(limit)).all()
    return (rows[-1].arrival if rows else after), [_movement(tuple(row)) for row in rows]


def counts(session: Session, event: EventKey) -> list[Count]:
    """How often each gate gave each answer at an event."""
    columns = select(ScanCount.gate, ScanCount.direction, ScanCount.reason, ScanCount.n)
    rows = session.execute(columns.where(event.of(ScanCount)).order_by(ScanCount.gate, ScanCount.reason))
    return [Count(*row) for row in rows]


def was_admitted(session: Session, event: EventKey, ticket: int) -> bool:
    """Whether a gate has reported that this ticket was let in."""
    # By way of the entries, which have an index by ticket.
    same = (
        (MovementRow.organisation_id == ScanEntry.organisation_id)
        & (MovementRow.device == ScanEntry.device)
        & (MovementRow.branch == ScanEntry.branch)
        & (MovementRow.seq == ScanEntry.seq)
    )
    wanted = select(MovementRow.arrival).join(ScanEntry, same).where(event.of(ScanEntry), ScanEntry.ticket == ticket)
    return session.execute(wanted.limit(1)).first() is not None


def open_conflicts(session: Session, event: EventKey, limit: int = 500) -> Sequence[ConflictRow]:
    """Conflicts that are neither resolved nor withdrawn, gravest first."""
    unresolved = ConflictRow.resolved_at.is_(None), ConflictRow.withdrawn_at.is_(None)
    return _conflicts(session, event, limit, *unresolved)


def all_conflicts(session: Session, event: EventKey, limit: int = 500) -> Sequence[ConflictRow]:
    """All conflicts, resolved and withdrawn ones included, gravest first."""
    return _conflicts(session, event, limit)


def conflict(session: Session, organisation_id: str, conflict_id: str, *, lock: bool = False) -> ConflictRow:
    """One conflict; NotFound for another organisation's too."""
    named = organisation_id, conflict_id
    row = session.get(ConflictRow, named, with_for_update=lock or None, populate_existing=lock)
    if row is None:
        raise NotFound("There is no such conflict.", code="conflict_not_found")
    return row


def open_conflict_counts(session: Session, organisation_id: str) -> dict[str, int]:
    """How many conflicts are open, by event, without those for information."""
    unresolved = select(ConflictRow.event_id, func.count()).where(
        ConflictRow.organisation_id == organisation_id, UNRESOLVED
    )
    return dict(session.execute(unresolved.group_by(ConflictRow.event_id)).all())


def open_conflict_count(session: Session, event: EventKey) -> int:
    """How many conflicts of one event are open, without those for information."""
    return session.execute(select(func.count(ConflictRow.id)).where(event.of(ConflictRow), UNRESOLVED)).scalar_one()


@dataclass(frozen=True, slots=True)
class ScanFilter:
    """Which scans to list; what is None is of no matter."""

    gate: int | None = None
    admitted: bool | None = None
    reason: str | None = None
    ticket: int | None = None
    test: bool | None = None
    since: Millis | None = None
    until: Millis | None = None  # without that moment itself

    def conditions(self) -> list[ColumnElement[bool]]:
        """What a scan must be."""
        row = ScanEntry
        equal = ((row.gate, self.gate), (row.admitted, self.admitted), (row.reason, self.reason))
        wanted = (*equal, (row.ticket, self.ticket), (row.test, self.test))
        found = [column == value for column, value in wanted if value is not None]
        found += [row.at >= self.since] if self.since is not None else []
        return found + ([row.at < self.until] if self.until is not None else [])


ALL_SCANS: Final = ScanFilter()


def recent(session: Session, event: EventKey, limit: int, chosen: ScanFilter = ALL_SCANS) -> Sequence[ScanEntry]:
    """The latest ticket scans of an event, by corrected time."""
    shown = ~ScanEntry.quarantined, ScanEntry.kind.in_(PRESENTED), *chosen.conditions()
    return session.scalars(
        select(ScanEntry).where(event.of(ScanEntry), *shown).order_by(ScanEntry.at.desc()).limit(limit)
    ).all()


def scans(session: Session, event: EventKey, *, limit: int, after: str | None) -> Page[ScanEntry]:
    """A page of the scans of an event, by time."""
    row = ScanEntry
    order = row.at, row.device, row.branch, row.seq, row.hash
    wanted = select(row).where(event.of(row), row.kind.in_(PRESENTED))
    start = decode_cursor(after, int, int, int, int, str)
    if start is not None:
        *numbers, digest = start
        wanted = wanted.where(tuple_(*order) > tuple_(*map(literal, (*numbers, bytes.fromhex(str(digest))))))
    found = session.scalars(wanted.order_by(*order).limit(limit + 1)).all()
    return paginate(found, limit, lambda last: (last.at, last.device, last.branch, last.seq, last.hash.hex()))


def first_admissions(session: Session, event: EventKey, ticket_ids: Collection[int]) -> dict[int, Millis]:
    """When each of these tickets was admitted first."""
    row = ScanEntry
    admitted = row.admitted, ~row.quarantined, among(session, row.ticket, ticket_ids)
    first = select(row.ticket, func.min(row.at)).where(event.of(row), *admitted).group_by(row.ticket)
    return dict(session.execute(first).all()) if ticket_ids else {}


def journal_state(session: Session, organisation_id: str, device: int) -> JournalState:
    """What is stored, claimed and quarantined of one device."""
    return journal_states(session, organisation_id, device).get(device, EMPTY_JOURNAL)


def journal_states(session: Session, organisation_id: str, device: int | None = None) -> dict[int, JournalState]:
    """What is stored, claimed and quarantined, by device: of all, or only of this one."""
    states: dict[int, JournalState] = {}
    quarantined = _quarantined(session, organisation_id, device)
    of_organisation = select(Journal).where(Journal.organisation_id == organisation_id)
    if device is not None:
        of_organisation = of_organisation.where(Journal.device == device)
    for row in session.scalars(of_organisation.order_by(Journal.device, Journal.branch)):
        before = states.get(row.device, JournalState(0, 0, quarantined.get(row.device, 0), ""))
        states[row.device] = JournalState(
            before.held + row.mark_seq, before.claimed + row.claimed_seq, before.quarantined, row.alarm or before.alarm
        )
    return states


def delivered_before_missing(
    session: Session, organisation_id: str, devices: Collection[int]
) -> dict[int, Millis | None]:
    """When each of these devices last delivered, of those that say they have more; None: never."""
    mine = Journal.organisation_id == organisation_id, Journal.device.in_(devices)
    behind = select(Journal.device, func.max(Journal.received_at)).where(*mine, Journal.claimed_seq > Journal.mark_seq)
    return dict(session.execute(behind.group_by(Journal.device)).all())


def is_forked(session: Session, organisation_id: str, device: int, branch: int) -> bool:
    """Whether two machines have claimed or written different entries of this branch."""
    mine = Journal.organisation_id == organisation_id, Journal.device == device, Journal.branch == branch
    return bool(branch and session.scalar(select(Journal.alarm).where(*mine)))


def _quarantined(session: Session, organisation_id: str, device: int | None) -> dict[int, int]:
    by_device = select(ScanEntry.device, func.count()).where(ScanEntry.organisation_id == organisation_id, QUARANTINED)
    if device is not None:
        by_device = by_device.where(ScanEntry.device == device)
    return dict(session.execute(by_device.group_by(ScanEntry.device)).all())


def _conflicts(session: Session, event: EventKey, limit: int, *more: Any) -> Sequence[ConflictRow]:
    wanted = select(ConflictRow).where(event.of(ConflictRow), *more)
    ordered = wanted.order_by(ConflictRow.severity.desc(), ConflictRow.found_at.desc(), ConflictRow.id.desc())
    return session.scalars(ordered.limit(limit)).all()


def _movement(row: tuple[Any, ...]) -> Movement:
    _, device, branch, seq, kind, ticket, issue, code_hash, at, gate, zone, *annuls = row
    taken_back = (annuls[0], annuls[1], annuls[2]) if annuls[0] is not None else None
    return Movement(
        device, branch, seq, MovementKind(kind), ticket, issue, bytes(code_hash), at, gate, zone, taken_back
    )


def entered(event: EventKey) -> Select[int]:
    """The ids of the tickets that entered an event at least once, and were not annulled: part of a statement."""
    entry, undone = aliased(MovementRow), aliased(MovementRow)
    annulment = select(undone.seq).where(
        event.of(undone),
        undone.annuls_device == entry.device,
        undone.annuls_branch == entry.branch,
        undone.annuls_seq == entry.seq,
    )
    return select(entry.ticket).where(event.of(entry), entry.kind == MovementKind.ENTRY, ~annulment.exists()).distinct()
