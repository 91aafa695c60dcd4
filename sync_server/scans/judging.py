"""Reconciles tickets inside the transaction that touched them, and keeps what came out: presence and conflicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.admission import Direction
from shared.clock import Millis
from shared.scans import decode
from sync_server.plumbing.many import among, insert_many
from sync_server.plumbing.sealing import Sealer
from sync_server.scans import conflicts, decided
from sync_server.scans.conflicts import Found, Known
from sync_server.scans.crowding import Step, by_gate, crowd
from sync_server.scans.models import Presence, ScanEntry
from sync_server.scans.reconcile import Judged, Reconciliation, reconcile
from sync_server.scans.rows_at import EventPast
from sync_server.scans.rules import Why
from sync_server.tickets.handed_out import HandedOut

_CHUNK = 1_000
_NEW_STATE = (
    "ON CONFLICT (event, ticket) DO UPDATE SET "
    "bodies = excluded.bodies, at = excluded.at, gate = excluded.gate, zone = excluded.zone"
)


def reconcile_tickets(
    session: Session, organisation_id: str, touched: Collection[tuple[int, int]], sealer: Sealer, now: Millis
) -> list[Found]:
    """Judge these tickets anew; answers the conflicts that were not known before."""
    new: list[Found] = []
    for event in sorted({event for event, _ in touched}):
        tickets = sorted(ticket for one, ticket in touched if one == event)
        for start in range(0, len(tickets), _CHUNK):
            some = tickets[start : start + _CHUNK]
            handed_out = HandedOut(session, organisation_id, sealer, some)
            new += _reconcile_event(session, organisation_id, event, some, handed_out=handed_out, now=now)
    return new


def _reconcile_event(
    session: Session, organisation_id: str, event: int, tickets: Sequence[int], *, handed_out: HandedOut, now: Millis
) -> list[Found]:
    _lock(session, event, tickets)
    known = _entries(session, event, tickets)
    decisions = decided.known(session, organisation_id, event)
    past = EventPast(session, event, handed_out, decisions, tickets=tickets, span=_span(known.values()))
    results = {ticket: reconcile([one.judged for one in some], past) for ticket, some in known.items()}
    _keep_presence(session, event, results, past)
    found = [
        Found(event, ticket, conflict, known[ticket])
        for ticket, result in results.items()
        for conflict in result.conflicts
    ]
    return conflicts.keep(session, organisation_id, event, tickets, found=found, now=now)


def _lock(session: Session, event: int, tickets: Sequence[int]) -> None:
    """One at a time per ticket, in rising order: whoever comes second sees the entries of the first."""
    rows = [{"event": event, "ticket": ticket, "bodies": 0, "at": 0, "gate": 0, "zone": 0} for ticket in tickets]
    insert_many(session, Presence, rows, "ON CONFLICT DO NOTHING")
    held = select(Presence.ticket).where(Presence.event == event, among(session, Presence.ticket, tickets))
    session.execute(held.order_by(Presence.ticket).with_for_update()).all()


def _entries(session: Session, event: int, tickets: Sequence[int]) -> dict[int, list[Known]]:
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
    # Only a shut-out device's entries are told of while they wait; what is damaged or somebody else's tells nothing.
    believed = ~ScanEntry.quarantined | (ScanEntry.why == Why.REVOKED_DEVICE)
    rows = session.execute(columns.where(ScanEntry.event == event, among(session, ScanEntry.ticket, tickets), believed))
    known: dict[int, list[Known]] = defaultdict(list)
    for ticket, digest, body, at, uncertainty, forked, quarantined, why in rows:
        revoked = not quarantined and why == Why.REVOKED_DEVICE
        judged = Judged(decode(body), at, uncertainty, forked, quarantined, revoked, ref=len(known[ticket]))
        known[ticket].append(Known(judged, digest))
    return known


def _span(known: Iterable[Sequence[Known]]) -> tuple[Millis, Millis]:
    moments = [one.judged for some in known for one in some]
    first = min((one.at - one.uncertainty for one in moments), default=0)
    last = max((one.at + one.uncertainty for one in moments), default=0)
    return first, last


def _keep_presence(session: Session, event: int, results: dict[int, Reconciliation], past: EventPast) -> None:
    rows = [{"event": event, "ticket": ticket} | _whereabouts(result, past) for ticket, result in results.items()]
    insert_many(session, Presence, sorted(rows, key=lambda row: row["ticket"]), _NEW_STATE)


def _whereabouts(result: Reconciliation, past: EventPast) -> dict[str, Any]:
    if not result.counted:
        return {"bodies": 0, "at": 0, "gate": 0, "zone": 0}
    latest = result.counted[-1]
    return {"bodies": _bodies(result, past), "at": latest.at, "gate": latest.gate, "zone": latest.zone}


def _bodies(result: Reconciliation, past: EventPast) -> int:
    """How many are inside on this ticket after its latest movement."""
    if len(result.counted) == 1:
        return 1 if result.counted[0].direction is Direction.ENTRY else 0
    event = past.event_at(result.counted[-1].at)
    if event is None:
        return 0
    steps = [Step(0, one, duplicate=one not in result.history) for one in result.counted]
    return sum(crowd(steps, by_gate, {}, event, result.counted[-1].at).inside.values())
