"""Keeps what reconciliation contradicts: new conflicts are told once; those that facts undo are withdrawn, not lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import uuid7
from sync_server.plumbing.database import of
from sync_server.plumbing.many import among
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
"""0 is for information; 4 says that a ticket key may be out."""


@dataclass(frozen=True, slots=True)
class Known:
    """One kept entry as reconciliation sees it, and the hash that names it among its twins."""

    judged: Judged
    hash: bytes


@dataclass(frozen=True, slots=True)
class Found:
    """A conflict of one ticket, and the ticket's entries by the number that reconciliation hands back."""

    event: int
    ticket: int
    conflict: Conflict
    entries: Sequence[Known]

    @property
    def subject(self) -> str:
        """Names the entry that is wrong, its twin on a forked journal apart."""
        entry = self.conflict.of.entry
        return f"{entry.device}-{entry.branch}-{entry.seq}-{self.entries[self.conflict.of.ref].hash[:8].hex()}"

    @property
    def name(self) -> tuple[int, str, str]:
        """What the same conflict is recognised by."""
        return self.ticket, self.conflict.kind, self.subject


def keep(
    session: Session, organisation_id: str, event: int, tickets: Sequence[int], *, found: Sequence[Found], now: Millis
) -> list[Found]:
    """Write down what was found of these tickets; answers what is new."""
    # Crowds are found by looking at everybody, and are kept by who looks at everybody.
    of_tickets = ConflictRow.event == event, among(session, ConflictRow.ticket, tickets)
    known = (*of_tickets, ConflictRow.kind != ConflictKind.OVER_CAPACITY)
    return keep_among(session, organisation_id, known, found, now)


def keep_among(
    session: Session, organisation_id: str, known: Sequence[ColumnElement[bool]], found: Sequence[Found], now: Millis
) -> list[Found]:
    """Write down what was found; of the `known` ones, withdraw those that were not found again. Answers what is new."""
    before = {(row.ticket, row.kind, row.subject): row for row in session.scalars(select(ConflictRow).where(*known))}
    new: list[Found] = []
    for one in found:
        row = before.pop(one.name, None)
        if row is None:
            session.add(_row(session, organisation_id, one, now))
            new.append(one)
        else:
            _renew(row, one)
    for row in before.values():
        row.withdrawn_at = row.withdrawn_at or now
    session.flush()
    return new


def _row(session: Session, organisation_id: str, found: Found, now: Millis) -> ConflictRow:
    conflict = found.conflict
    return ConflictRow(
        id=uuid7(now, of(session).entropy),
        organisation_id=organisation_id,
        event=found.event,
        ticket=found.ticket,
        kind=conflict.kind,
        subject=found.subject,
        severity=SEVERITY[conflict.kind],
        order_unsure=conflict.order_unsure,
        scans=_scans(conflict),
        reason=conflict.reason or "",
        found_at=now,
    )


def _renew(row: ConflictRow, found: Found) -> None:
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
