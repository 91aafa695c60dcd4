"""Tells which entries of one minute were made when a zone or gate was full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from sqlalchemy import ColumnElement, select, tuple_
from sqlalchemy.orm import Session

from shared.journal.scans import decode
from shared.reasons import Reason
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.bulk import among
from sync_server.scans.attendance.basis import Basis, Limits
from sync_server.scans.attendance.flows import MINUTE
from sync_server.scans.attendance.moves import Move, moves
from sync_server.scans.attendance.steps import unpack
from sync_server.scans.conflicts import FoundConflict, StoredScan
from sync_server.scans.crowds.levels import Place, Suspect, limit_of, places
from sync_server.scans.models import Presence, ScanEntry
from sync_server.scans.reconcile import Conflict, ConflictKind, Judged

_CHUNK = 500
_FULL: Final = {Reason.ZONE_FULL.value, Reason.GATE_FULL.value}
_MOST_SERIOUS: Final = (Reason.GATE_FULL, Reason.ZONE_FULL)
"""The last one is told where both are true."""
Identity = tuple[int, int, int]


def conflicts_of(
    session: Session, event: EventKey, basis: Basis, limits: Limits, suspect: Suspect
) -> list[FoundConflict]:
    """The entries of that minute beyond capacity, but those of supervisors who knew that it was full."""
    reasons = _beyond(_moves(session, event, basis, suspect), limits, suspect)
    found: list[FoundConflict] = []
    for row in _entries(session, event, suspect, sorted(reasons)):
        judged = Judged(decode(row.body), row.at, row.uncertainty)
        if judged.entry.override_denial not in _FULL:
            conflict = Conflict(ConflictKind.OVER_CAPACITY, judged, reasons[row.device, row.branch, row.seq])
            found.append(FoundConflict(event.event_id, row.ticket, conflict, [StoredScan(judged, row.hash)]))
    return found


def _beyond(found: Sequence[Move], limits: Limits, suspect: Suspect) -> dict[Identity, Reason]:
    inside: Counter[Place] = Counter(suspect.levels)
    full: dict[Identity, Reason] = {}
    for move in found:
        for place in places(limits, move.gate, move.zone):
            if move.change > 0 and inside[place] >= limit_of(limits, place):
                before = full.get(move.identity, place.full)
                full[move.identity] = max(before, place.full, key=_MOST_SERIOUS.index)
            inside[place] += move.change
    return full


def _moves(session: Session, event: EventKey, basis: Basis, suspect: Suspect) -> list[Move]:
    """Everybody's moves in that minute: the tickets are those with an entry of the journals then."""
    day, starts = suspect.minute
    # Two statements: without statistics PostgreSQL would compare every ticket with every entry.
    shown = select(ScanEntry.ticket).where(*_then(event, suspect), ScanEntry.ticket != 0).distinct()
    these = among(session, Presence.ticket, session.scalars(shown).all())
    wanted = select(Presence.ticket, Presence.steps).where(event.of(Presence), these)
    return sorted(
        move
        for ticket, steps in session.execute(wanted)
        for move in moves(unpack(ticket, steps), basis)
        if move.day == day and starts <= move.at < starts + MINUTE
    )


def _entries(
    session: Session, event: EventKey, suspect: Suspect, identities: Sequence[Identity]
) -> Iterator[ScanEntry]:
    then = _then(event, suspect)
    for start in range(0, len(identities), _CHUNK):  # a statement takes only so many values
        named = tuple_(ScanEntry.device, ScanEntry.branch, ScanEntry.seq).in_(identities[start : start + _CHUNK])
        yield from session.scalars(select(ScanEntry).where(*then, ~ScanEntry.quarantined, named))


def _then(event: EventKey, suspect: Suspect) -> tuple[ColumnElement[bool], ...]:
    starts = suspect.minute.starts
    return event.of(ScanEntry), ScanEntry.at >= starts, ScanEntry.at < starts + MINUTE
