"""Stores conflicts found by reconciliation; those that no longer hold are withdrawn, not deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import uuid7
from sync_server.plumbing.database import database_of
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.bulk import among
from sync_server.scans.models import ConflictRow
from sync_server.scans.reconcile import Conflict, ConflictKind, Judged

SEVERITY: dict[ConflictKind, int] = {
    ConflictKind.REFUSED_THOUGH_RIGHT: 0,
    ConflictKind.OVER_CAPACITY: 1,
    ConflictKind.DUPLICATE: 2,
    ConflictKind.ADMITTED_THOUGH_DEAD: 2,
    ConflictKind.REVOKED_DEVICE: 2,
    ConflictKind.FORK: 3,
    ConflictKind.NEVER_ISSUED: 4,
    ConflictKind.FORGED_CODE: 4,
}
"""0 is for information; 4 means that a ticket key may have leaked."""


class StoredScan(Struct, frozen=True):
    """One stored entry as reconciliation sees it, and the hash that identifies it among forks."""

    judged: Judged
    hash: bytes


@dataclass(frozen=True, slots=True)
class FoundConflict:
    """A conflict of one ticket, with the ticket's entries by their `ref`."""

    event_id: str
    ticket: int
    conflict: Conflict
    entries: Sequence[StoredScan]

    @property
    def subject(self) -> str:
        """Identifies the entry that is wrong, even on a forked journal."""
        entry = self.conflict.of.entry
        return f"{entry.device}-{entry.branch}-{entry.seq}-{self.entries[self.conflict.of.ref].hash[:8].hex()}"

    @property
    def key(self) -> tuple[int, str, str]:
        """The key of the same conflict."""
        return self.ticket, self.conflict.kind, self.subject


def store(
    session: Session,
    event: EventKey,
    tickets: Sequence[int],
    *,
    found: Sequence[FoundConflict],
    now: Millis,
) -> list[FoundConflict]:
    """Store the conflicts found for these tickets; returns the new ones."""
    # Over-capacity conflicts need the movements of everybody: capacity.py stores them.
    of_tickets = event.of(ConflictRow), among(session, ConflictRow.ticket, tickets)
    previous = (*of_tickets, ConflictRow.kind != ConflictKind.OVER_CAPACITY)
    return store_among(session, event.organisation_id, previous, found, now)


def add(session: Session, event: EventKey, found: Sequence[FoundConflict], now: Millis) -> list[FoundConflict]:
    """Store conflicts of tickets that never had any; returns them."""
    session.add_all([_row(session, event.organisation_id, one, now) for one in found])
    session.flush()
    return list(found)


def store_among(
    session: Session,
    organisation_id: str,
    previous: Sequence[ColumnElement[bool]],
    found: Sequence[FoundConflict],
    now: Millis,
) -> list[FoundConflict]:
    """Store the conflicts found, and withdraw those of `previous` not found again; returns the new ones."""
    before = {(row.ticket, row.kind, row.subject): row for row in session.scalars(select(ConflictRow).where(*previous))}
    new: list[FoundConflict] = []
    for one in found:
        row = before.pop(one.key, None)
        if row is None:
            session.add(_row(session, organisation_id, one, now))
            new.append(one)
        else:
            _renew(row, one)
    for row in before.values():
        row.withdrawn_at = row.withdrawn_at or now
    session.flush()
    return new


def _row(session: Session, organisation_id: str, found: FoundConflict, now: Millis) -> ConflictRow:
    conflict = found.conflict
    return ConflictRow(
        id=uuid7(now, database_of(session).entropy),
        organisation_id=organisation_id,
        event_id=found.event_id,
        ticket=found.ticket,
        kind=conflict.kind,
        subject=found.subject,
        severity=SEVERITY[conflict.kind],
        order_unsure=conflict.order_unsure,
        scans=_scans(conflict),
        reason=conflict.reason or "",
        found_at=now,
    )


def _renew(row: ConflictRow, found: FoundConflict) -> None:
    row.order_unsure, row.reason = found.conflict.order_unsure, found.conflict.reason or ""
    row.scans, row.withdrawn_at = _scans(found.conflict), None


def _scans(conflict: Conflict) -> list[dict[str, Any]]:
    return [_scan(one) for one in (conflict.of, conflict.against) if one is not None]


def _scan(one: Judged) -> dict[str, Any]:
    entry = one.entry
    return {
        "device": entry.device,
        "branch": entry.branch,
        "seq": entry.seq,
        "gate": entry.gate,
        "direction": entry.direction,
        "admitted": entry.admitted,
        "reason": entry.reason,
        "override": entry.override_reason,
        "at": one.at,
        "uncertainty": one.uncertainty,
    }
