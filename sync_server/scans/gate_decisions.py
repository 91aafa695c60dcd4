"""Applies supervisors' decisions at gates: affected tickets, emptied venues, audit lines and facts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import func, select, tuple_
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.scans import UNKNOWN_MS, Entry, EntryKind, decode
from sync_server.accounts import queries as accounts
from sync_server.audit import service as audit
from sync_server.events import queries as events
from sync_server.events.lifecycle import emptying
from sync_server.outbox import service as outbox
from sync_server.plumbing.principals import ActionContext
from sync_server.scans.decisions import Decision, Decisions, is_decision
from sync_server.scans.models import DECISIONS, ScanEntry
from sync_server.scans.storage import Stored, Touched

EmptyingKey = tuple[int, int, int, bytes]
"""Event, branch, seq and hash of an entry that says the venue was emptied."""
_KINDS = frozenset({EntryKind.DOORS, EntryKind.COUNT_CORRECTION})


def of_event(session: Session, organisation_id: str, event: int) -> list[Decision]:
    """Every decision that counts, oldest first."""
    columns = select(ScanEntry.body, ScanEntry.hash, ScanEntry.at, ScanEntry.uncertainty)
    rows = session.execute(columns.where(ScanEntry.event == event, DECISIONS, ~ScanEntry.quarantined)).all()
    if not rows:
        return []
    supervisors = _supervisors(session, organisation_id)
    decisions = [Decision(decode(row.body), row.hash, row.at, row.uncertainty) for row in rows]
    counted = [one for one in decisions if is_decision(one.entry, supervisors)]
    return sorted(counted, key=lambda one: (one.at, one.entry.device, one.place))


def decisions_at(session: Session, organisation_id: str, event: int) -> Decisions:
    """The decisions of an event, for reconciliation."""
    return Decisions(of_event(session, organisation_id, event))


def touched(session: Session, stored: Sequence[Stored]) -> Touched:
    """Tickets with earlier entries that new decisions may affect."""
    found: Touched = set()
    for one in stored:
        if one.entry.kind == EntryKind.DOORS:
            found |= _after_doors(session, one.entry)
        elif one.entry.kind == EntryKind.COUNT_CORRECTION:
            found |= tickets_around(session, one.entry.event, one.at, one.at)
    return found


def tickets_around(session: Session, event: int, first: Millis, last: Millis) -> Touched:
    """Tickets scanned both before and after the venue was emptied within this span: no others are affected."""
    if not event:
        return set()
    mine = ScanEntry.event == event, ScanEntry.ticket != 0
    shown = select(ScanEntry.ticket).where(*mine).group_by(ScanEntry.ticket)
    both = shown.having(
        func.min(ScanEntry.at - ScanEntry.uncertainty) <= last, func.max(ScanEntry.at + ScanEntry.uncertainty) >= first
    )
    return {(event, ticket) for ticket in session.scalars(both)}


def emptyings_of(session: Session, device: int) -> dict[EmptyingKey, Millis]:
    """When venues were emptied according to one device, by entry."""
    columns = select(ScanEntry.event, ScanEntry.branch, ScanEntry.seq, ScanEntry.hash, ScanEntry.at)
    mine = DECISIONS, ScanEntry.device == device, ScanEntry.kind == EntryKind.COUNT_CORRECTION
    rows = session.execute(columns.where(*mine, ~ScanEntry.quarantined))
    return {(event, branch, seq, digest): at for event, branch, seq, digest, at in rows}


def moved(session: Session, before: Mapping[EmptyingKey, Millis], after: Mapping[EmptyingKey, Millis]) -> Touched:
    """Tickets affected because a venue turned out to have been emptied at another time."""
    found: Touched = set()
    for key, at in after.items():
        if before.get(key, at) != at:
            found |= tickets_around(session, key[0], min(at, before[key]), max(at, before[key]))
    return found


def record(session: Session, organisation_id: str, stored: Sequence[Stored], context: ActionContext) -> None:
    """Record new decisions in the audit log, and opened or closed doors as facts."""
    decided = [one for one in stored if one.entry.kind in _KINDS]
    supervisors = _supervisors(session, organisation_id) if decided else ()
    for one in decided:
        event = events.details_by_number(session, one.entry.event)
        if event is not None and is_decision(one.entry, supervisors):
            _record(session, event, one, context)


def apply_emptyings(
    session: Session,
    organisation_id: str,
    device: int,
    stored: Sequence[Stored],
    context: ActionContext,
    *,
    moved: bool,
) -> None:
    """Tell all gates that the venue was emptied at one of them, as soon as the time of it is known.

    `moved`: the device has delivered a time anchor, so that the time may be known now. Locks the event: call it after
    everything that locks tickets, and before what locks heads.
    """
    numbers = {one.entry.event for one in stored if one.entry.kind == EntryKind.COUNT_CORRECTION}
    if moved:
        numbers |= {event for event, *_ in emptyings_of(session, device)}
    for number in sorted(numbers):
        emptyings = [one for one in of_event(session, organisation_id, number) if one.empties_venue]
        dated = [one for one in emptyings if one.uncertainty < UNKNOWN_MS]
        if dated:
            last = max(dated, key=lambda one: one.at)
            reason = f"by supervisor {last.entry.override_by} at a gate"
            # A clock that runs ahead must not empty the venue at a time still to come.
            at = min(last.at, context.now)
            emptying.record_emptied(session, organisation_id, number, at, context, reason=reason)


def _after_doors(session: Session, entry: Entry) -> Touched:
    later = tuple_(ScanEntry.branch, ScanEntry.seq) > tuple_(entry.branch, entry.seq)
    mine = ScanEntry.device == entry.device, ScanEntry.event == entry.event, ScanEntry.ticket != 0
    found = session.execute(select(ScanEntry.event, ScanEntry.ticket).where(*mine, later).distinct())
    return {(event, ticket) for event, ticket in found}


def _record(session: Session, event: events.EventDetails, one: Stored, context: ActionContext) -> None:
    entry, where, now = one.entry, event.organisation_id, context.now
    details = {"device": entry.device, "gate": entry.gate, "supervisor": entry.override_by, "at": one.at}
    reason = entry.override_reason[:1000]
    if entry.kind == EntryKind.COUNT_CORRECTION:
        # Only an audit line: the fact is recorded with the change of the event, once for all its gates.
        action = "house_emptied_at_gate"
        audit.record(
            session, audit.AuditLine(context.actor, action, "event", event.id, where, now, None, details, reason)
        )
        return
    name = "gate_doors_opened" if entry.details.get("opened") is True else "gate_doors_closed"
    fact = outbox.Fact(name, where, now, {"event": event.id, "event_number": event.number}, details)
    outbox.record_change(session, context, outbox.Subject("event", event.id, None, details, reason), fact)


def _supervisors(session: Session, organisation_id: str) -> Collection[int]:
    # Former supervisors too: they were supervisors when they decided, and numbers are never reused.
    return {row.number for row in accounts.supervisors(session, organisation_id)}
