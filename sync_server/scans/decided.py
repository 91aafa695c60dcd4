"""Lets everything follow from what supervisors decided at gates: tickets judged anew, an emptied house, a record."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import func, select, tuple_
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.scans import UNKNOWN_MS, Entry, EntryKind, decode
from sync_server.accounts import queries as accounts
from sync_server.audit import service as audit
from sync_server.events import emptying
from sync_server.events import queries as events
from sync_server.outbox import service as outbox
from sync_server.plumbing.principals import Deed
from sync_server.scans.decisions import Decision, Decisions, is_decision
from sync_server.scans.keeping import Stored, Touched
from sync_server.scans.models import DECISIONS, ScanEntry

House = tuple[int, int, int, bytes]
"""Event, branch, number and hash of the entry that says that its house was emptied."""
_KINDS = frozenset({EntryKind.DOORS, EntryKind.COUNT_CORRECTION})


def of_event(session: Session, organisation_id: str, event: int) -> list[Decision]:
    """Every decision that counts, oldest first."""
    columns = select(ScanEntry.body, ScanEntry.hash, ScanEntry.at, ScanEntry.uncertainty)
    kept = session.execute(columns.where(ScanEntry.event == event, DECISIONS, ~ScanEntry.quarantined)).all()
    if not kept:
        return []
    supervisors = _supervisors(session, organisation_id)
    told = [Decision(decode(row.body), row.hash, row.at, row.uncertainty) for row in kept]
    counted = [one for one in told if is_decision(one.entry, supervisors)]
    return sorted(counted, key=lambda one: (one.at, one.entry.device, one.place))


def known(session: Session, organisation_id: str, event: int) -> Decisions:
    """The same for reconciliation."""
    return Decisions(of_event(session, organisation_id, event))


def touched(session: Session, stored: Sequence[Stored]) -> Touched:
    """Tickets whose entries are held already and are judged otherwise by decisions that have just come."""
    found: Touched = set()
    for one in stored:
        if one.entry.kind == EntryKind.DOORS:
            found |= _behind(session, one.entry)
        elif one.entry.kind == EntryKind.COUNT_CORRECTION:
            found |= around(session, one.entry.event, one.at, one.at)
    return found


def around(session: Session, event: int, first: Millis, last: Millis) -> Touched:
    """Tickets shown both before and after the house was emptied somewhere in this span: nobody else minds."""
    if not event:
        return set()
    mine = ScanEntry.event == event, ScanEntry.ticket != 0
    shown = select(ScanEntry.ticket).where(*mine).group_by(ScanEntry.ticket)
    both = shown.having(
        func.min(ScanEntry.at - ScanEntry.uncertainty) <= last, func.max(ScanEntry.at + ScanEntry.uncertainty) >= first
    )
    return {(event, ticket) for ticket in session.scalars(both)}


def houses_of(session: Session, device: int) -> dict[House, Millis]:
    """When one device says that houses were emptied, by the event and the entry that tells it."""
    columns = select(ScanEntry.event, ScanEntry.branch, ScanEntry.seq, ScanEntry.hash, ScanEntry.at)
    mine = DECISIONS, ScanEntry.device == device, ScanEntry.kind == EntryKind.COUNT_CORRECTION
    rows = session.execute(columns.where(*mine, ~ScanEntry.quarantined))
    return {(event, branch, seq, digest): at for event, branch, seq, digest, at in rows}


def moved(session: Session, before: Mapping[House, Millis], after: Mapping[House, Millis]) -> Touched:
    """Tickets that are judged otherwise because a house turned out to have been emptied at another time."""
    found: Touched = set()
    for name, at in after.items():
        if before.get(name, at) != at:
            found |= around(session, name[0], min(at, before[name]), max(at, before[name]))
    return found


def tell(session: Session, organisation_id: str, stored: Sequence[Stored], deed: Deed) -> None:
    """Write down decisions that have just come: in the audit log, and doors as facts."""
    decided = [one for one in stored if one.entry.kind in _KINDS]
    supervisors = _supervisors(session, organisation_id) if decided else ()
    for one in decided:
        event = events.facts_by_number(session, one.entry.event)
        if event is not None and is_decision(one.entry, supervisors):
            _record(session, event, one, deed)


def empty_houses(
    session: Session, organisation_id: str, device: int, stored: Sequence[Stored], deed: Deed, *, moved: bool
) -> None:
    """Let every gate hear of a house that was emptied at one, as soon as it is known when that was.

    `moved`: the device has told more about its clock, so that it may have become known now. Locks the event: call it
    behind everything that locks tickets, and before what locks heads.
    """
    numbers = {one.entry.event for one in stored if one.entry.kind == EntryKind.COUNT_CORRECTION}
    if moved:
        numbers |= {event for event, *_ in houses_of(session, device)}
    for number in sorted(numbers):
        houses = [one for one in of_event(session, organisation_id, number) if one.house]
        dated = [one for one in houses if one.uncertainty < UNKNOWN_MS]
        if dated:
            last = max(dated, key=lambda one: one.at)
            words = f"by supervisor {last.entry.override_by} at a gate"
            # A clock that runs ahead must not empty the house of those who are still to come.
            at = min(last.at, deed.now)
            emptying.was_emptied(session, organisation_id, number, at, deed, reason=words)


def _behind(session: Session, entry: Entry) -> Touched:
    later = tuple_(ScanEntry.branch, ScanEntry.seq) > tuple_(entry.branch, entry.seq)
    mine = ScanEntry.device == entry.device, ScanEntry.event == entry.event, ScanEntry.ticket != 0
    found = session.execute(select(ScanEntry.event, ScanEntry.ticket).where(*mine, later).distinct())
    return {(event, ticket) for event, ticket in found}


def _record(session: Session, event: events.EventFacts, one: Stored, deed: Deed) -> None:
    entry = one.entry
    house, opened = entry.kind == EntryKind.COUNT_CORRECTION, entry.details.get("opened") is True
    name = "house_emptied_at_gate" if house else "gate_doors_opened" if opened else "gate_doors_closed"
    told = {"device": entry.device, "gate": entry.gate, "supervisor": entry.override_by, "at": one.at}
    line = audit.AuditLine(
        actor=deed.actor,
        action=name,
        subject_kind="event",
        subject_id=event.id,
        organisation_id=event.organisation_id,
        at=deed.now,
        after=told,
        reason=entry.override_reason[:1000],
    )
    audit.record(session, line)
    if not house:
        subjects = {"event": event.id, "event_number": event.number}
        outbox.record(session, outbox.Fact(name, event.organisation_id, deed.now, subjects, told))


def _supervisors(session: Session, organisation_id: str) -> Collection[int]:
    # Those who are none any more too: they were when they decided, and nobody's number is given twice.
    return {row.number for row in accounts.supervisors(session, organisation_id)}
