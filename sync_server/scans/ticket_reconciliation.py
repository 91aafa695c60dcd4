"""Reconciles tickets in the transaction that touched them, and stores their presence and conflicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.admission import Direction
from shared.clock import Millis
from shared.scans import Entry, decode
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.sql.bulk import among, insert_many
from sync_server.scans import conflicts, gate_decisions
from sync_server.scans.attendance import inside
from sync_server.scans.attendance.inside import NOBODY, Whereabouts
from sync_server.scans.conflicts import FoundConflict, StoredScan
from sync_server.scans.crowding import Step, by_gate, crowd
from sync_server.scans.event_history import EventHistory
from sync_server.scans.models import Presence, ScanEntry
from sync_server.scans.reconcile import Judged, Reconciliation, reconcile
from sync_server.scans.rules import QuarantineReason
from sync_server.tickets.keys.issued_codes import IssuedCodes

_CHUNK = 1_000
_NEW_STATE = (
    "ON CONFLICT (organisation_id, event_id, ticket) DO UPDATE SET "
    "bodies = excluded.bodies, at = excluded.at, gate = excluded.gate, zone = excluded.zone"
)


def reconcile_tickets(
    session: Session,
    organisation_id: str,
    touched: Collection[tuple[str, int]],
    decoded: Mapping[bytes, Entry],
    *,
    sealer: Sealer,
    now: Millis,
) -> list[FoundConflict]:
    """Reconcile these tickets; returns the new conflicts. `decoded` has entries by their hash; others are decoded."""
    new: list[FoundConflict] = []
    for event_id in sorted({event_id for event_id, _ in touched}):
        event = EventKey(organisation_id, event_id)
        tickets = sorted(ticket for one, ticket in touched if one == event_id)
        for start in range(0, len(tickets), _CHUNK):
            chunk = tickets[start : start + _CHUNK]
            issued_codes = IssuedCodes(session, organisation_id, sealer, chunk)
            new += _reconcile_event(session, event, chunk, decoded, issued_codes=issued_codes, now=now)
    return new


def _reconcile_event(
    session: Session,
    event: EventKey,
    tickets: Sequence[int],
    decoded: Mapping[bytes, Entry],
    *,
    issued_codes: IssuedCodes,
    now: Millis,
) -> list[FoundConflict]:
    before = _locked(session, event, tickets)
    entries = _entries(session, event, tickets, decoded)
    decisions = gate_decisions.decisions_at(session, event)
    history = EventHistory(session, event, issued_codes, decisions, tickets=tickets, span=_span(entries.values()))
    results = {ticket: reconcile([one.judged for one in some], history) for ticket, some in entries.items()}
    _store_presence(session, event, before, {ticket: _whereabouts(one, history) for ticket, one in results.items()})
    found = [
        FoundConflict(event.event_id, ticket, conflict, entries[ticket])
        for ticket, result in results.items()
        for conflict in result.conflicts
    ]
    return conflicts.store(session, event, tickets, found=found, now=now)


def _locked(session: Session, event: EventKey, tickets: Sequence[int]) -> dict[int, Whereabouts]:
    """Lock the tickets in ascending order: the second transaction then sees the entries of the first."""
    rows = [event._asdict() | {"ticket": ticket} | NOBODY._asdict() for ticket in tickets]
    insert_many(session, Presence, rows, "ON CONFLICT DO NOTHING")
    columns = select(Presence.ticket, Presence.bodies, Presence.at, Presence.gate, Presence.zone)
    wanted = columns.where(event.of(Presence), among(session, Presence.ticket, tickets)).order_by(Presence.ticket)
    return {ticket: Whereabouts(*seen) for ticket, *seen in session.execute(wanted.with_for_update())}


def _entries(
    session: Session, event: EventKey, tickets: Sequence[int], decoded: Mapping[bytes, Entry]
) -> dict[int, list[StoredScan]]:
    columns = select(
        ScanEntry.ticket,
        ScanEntry.hash,
        ScanEntry.body,
        ScanEntry.at,
        ScanEntry.uncertainty,
        ScanEntry.forked,
        ScanEntry.quarantined,
        ScanEntry.why,
    )
    # Of quarantined entries only those of a revoked device are reconciled; damaged or foreign ones say nothing.
    usable = ~ScanEntry.quarantined | (ScanEntry.why == QuarantineReason.REVOKED_DEVICE)
    rows = session.execute(columns.where(event.of(ScanEntry), among(session, ScanEntry.ticket, tickets), usable))
    entries: dict[int, list[StoredScan]] = defaultdict(list)
    for ticket, digest, body, at, uncertainty, forked, quarantined, why in rows:
        revoked = not quarantined and why == QuarantineReason.REVOKED_DEVICE
        entry = decoded.get(digest) or decode(body)
        judged = Judged(entry, at, uncertainty, forked, quarantined, revoked, ref=len(entries[ticket]))
        entries[ticket].append(StoredScan(judged, digest))
    return entries


def _span(entries: Iterable[Sequence[StoredScan]]) -> tuple[Millis, Millis]:
    moments = [one.judged for some in entries for one in some]
    first = min((one.at - one.uncertainty for one in moments), default=0)
    last = max((one.at + one.uncertainty for one in moments), default=0)
    return first, last


def _store_presence(
    session: Session, event: EventKey, before: Mapping[int, Whereabouts], after: Mapping[int, Whereabouts]
) -> None:
    rows = [event._asdict() | {"ticket": ticket} | seen._asdict() for ticket, seen in sorted(after.items())]
    insert_many(session, Presence, rows, _NEW_STATE)
    inside.count(session, event, before, after)


def _whereabouts(result: Reconciliation, history: EventHistory) -> Whereabouts:
    if not result.counted:
        return NOBODY
    latest = result.counted[-1]
    return Whereabouts(_bodies(result, history), latest.at, latest.gate, latest.zone)


def _bodies(result: Reconciliation, history: EventHistory) -> int:
    """How many people are inside with this ticket after its latest movement."""
    if len(result.counted) == 1:
        return 1 if result.counted[0].direction is Direction.ENTRY else 0
    event = history.event_at(result.counted[-1].at)
    if event is None:
        return 0
    steps = [Step(0, one, duplicate=one not in result.history) for one in result.counted]
    return sum(crowd(steps, by_gate, {}, event, result.counted[-1].at).inside.values())
