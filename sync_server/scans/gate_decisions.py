"""Applies supervisors' decisions at gates: affected tickets, emptied venues, audit lines and facts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import func, select, tuple_
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.journal.scans import UNKNOWN_MS, Entry, EntryKind, decode, zone_of
from sync_server.accounts import queries as accounts
from sync_server.audit import service as audit
from sync_server.events import queries as events
from sync_server.events.lifecycle import emptying
from sync_server.outbox import service as outbox
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.scans.decisions import Decision, Decisions, change_of, is_decision
from sync_server.scans.models import BY_DECISIONS, DECISIONS, ScanEntry
from sync_server.scans.storage import Stored, Touched

EmptyingKey = tuple[str, int, int, bytes]
"""Event id, branch, seq and hash of an entry that says the venue was emptied."""
_KINDS = frozenset({EntryKind.DOORS, EntryKind.COUNT_CORRECTION})


def of_event(session: Session, event: EventKey) -> list[Decision]:
    """Every decision that counts, oldest first."""
    columns = select(ScanEntry.body, ScanEntry.hash, ScanEntry.at, ScanEntry.uncertainty)
    of_this = columns.where(event.of(ScanEntry), DECISIONS, ~ScanEntry.quarantined)
    rows = session.execute(of_this.with_hint(ScanEntry, BY_DECISIONS, "sqlite")).all()
    if not rows:
        return []
    supervisors = _supervisors(session, event.organisation_id)
    decisions = [Decision(decode(row.body), row.hash, row.at, row.uncertainty) for row in rows]
    counted = [one for one in decisions if is_decision(one.entry, supervisors)]
    return sorted(counted, key=lambda one: (one.at, one.entry.device, one.place))


def decisions_at(session: Session, event: EventKey) -> Decisions:
    """The decisions of an event, for reconciliation."""
    return Decisions(of_event(session, event))


def touched(session: Session, organisation_id: str, stored: Sequence[Stored]) -> Touched:
    """Tickets with earlier entries that new decisions may affect."""
    found: Touched = set()
    for one in stored:
        if one.event_id and one.entry.kind == EntryKind.DOORS:
            found |= _after_doors(session, EventKey(organisation_id, one.event_id), one.entry)
        elif one.event_id and one.entry.kind == EntryKind.COUNT_CORRECTION:
            found |= tickets_around(session, EventKey(organisation_id, one.event_id), one.at, one.at)
    return found


def tickets_around(session: Session, event: EventKey, first: Millis, last: Millis) -> Touched:
    """Tickets scanned both before and after the venue was emptied within this span: no others are affected."""
    shown = select(ScanEntry.ticket).where(event.of(ScanEntry), ScanEntry.ticket != 0).group_by(ScanEntry.ticket)
    both = shown.having(
        func.min(ScanEntry.at - ScanEntry.uncertainty) <= last, func.max(ScanEntry.at + ScanEntry.uncertainty) >= first
    )
    return {(event.event_id, ticket) for ticket in session.scalars(both)}


def emptyings_of(session: Session, organisation_id: str, device: int) -> dict[EmptyingKey, Millis]:
    """When venues were emptied according to one device, by entry."""
    columns = select(ScanEntry.event_id, ScanEntry.branch, ScanEntry.seq, ScanEntry.hash, ScanEntry.at)
    mine = ScanEntry.organisation_id == organisation_id, ScanEntry.device == device
    emptyings = DECISIONS, ScanEntry.kind == EntryKind.COUNT_CORRECTION, ~ScanEntry.quarantined
    rows = session.execute(columns.where(*mine, *emptyings))
    return {(event_id, branch, seq, digest): at for event_id, branch, seq, digest, at in rows if event_id}


def moved(
    session: Session, organisation_id: str, before: Mapping[EmptyingKey, Millis], after: Mapping[EmptyingKey, Millis]
) -> Touched:
    """Tickets affected because a venue turned out to have been emptied at another time."""
    found: Touched = set()
    for key, at in after.items():
        if before.get(key, at) != at:
            event, earlier = EventKey(organisation_id, key[0]), before[key]
            found |= tickets_around(session, event, min(at, earlier), max(at, earlier))
    return found


def record(session: Session, organisation_id: str, stored: Sequence[Stored], context: ActionContext) -> None:
    """Record new decisions in the audit log, and opened or closed doors as facts."""
    decided = [(one, one.event_id) for one in stored if one.event_id and one.entry.kind in _KINDS]
    supervisors = _supervisors(session, organisation_id) if decided else ()
    for one, event_id in decided:
        if is_decision(one.entry, supervisors):
            _record(session, events.details(session, organisation_id, event_id), one, context)


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
    event_ids = {one.event_id for one in stored if one.event_id and one.entry.kind == EntryKind.COUNT_CORRECTION}
    if moved:
        event_ids |= {event_id for event_id, *_ in emptyings_of(session, organisation_id, device)}
    for event_id in sorted(event_ids):
        decided = of_event(session, EventKey(organisation_id, event_id))
        emptyings = [one for one in decided if one.empties_venue]
        dated = [one for one in emptyings if one.uncertainty < UNKNOWN_MS]
        if dated:
            last = max(dated, key=lambda one: one.at)
            reason = f"by supervisor {last.entry.override_by} at a gate"
            # A clock that runs ahead must not empty the venue at a time still to come.
            at = min(last.at, context.now)
            emptying.record_emptied(session, organisation_id, event_id, at, context, reason=reason)


def _after_doors(session: Session, event: EventKey, entry: Entry) -> Touched:
    later = tuple_(ScanEntry.branch, ScanEntry.seq) > tuple_(entry.branch, entry.seq)
    mine = event.of(ScanEntry), ScanEntry.device == entry.device, ScanEntry.ticket != 0
    return {
        (event.event_id, ticket) for ticket in session.scalars(select(ScanEntry.ticket).where(*mine, later).distinct())
    }


def _record(session: Session, event: events.EventDetails, one: Stored, context: ActionContext) -> None:
    entry, where = one.entry, event.organisation_id
    details = {"device": entry.device, "gate": entry.gate, "supervisor": entry.override_by, "at": one.at}
    reason = entry.override_reason[:1000]
    if change := change_of(entry):
        subject = "count_corrected_at_gate", "event", event.id, where
        after = details | {"change": change, "zone": zone_of(entry)}
        audit.record(session, audit.AuditLine(context, *subject, after=after, reason=reason))
        return
    if entry.kind == EntryKind.COUNT_CORRECTION:
        # Only an audit line: the fact is recorded with the change of the event, once for all its gates.
        subject = "house_emptied_at_gate", "event", event.id, where
        audit.record(session, audit.AuditLine(context, *subject, after=details, reason=reason))
        return
    name = "gate_doors_opened" if entry.details.get("opened") is True else "gate_doors_closed"
    fact = outbox.Fact(name, where, context.now, {"event": event.id, "event_number": event.number}, details)
    outbox.record_change(session, context, outbox.Subject("event", event.id, None, details, reason), fact)


def _supervisors(session: Session, organisation_id: str) -> Collection[int]:
    # Former supervisors too: they were supervisors when they decided, and numbers are never reused.
    return {row.number for row in accounts.supervisors(session, organisation_id)}
