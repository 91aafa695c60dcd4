"""Reconciles one ticket's entries: was the gate right, was the guest right? Independent of the order of upload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from shared.admission import ENTRY_ROWS, GROUND_ROWS, Attempt, Direction, Mode, Override, Passage, Room, Verdict, decide
from shared.journal.scans import Entry, EntryKind, annulled_by, encode, zone_of
from shared.reasons import Reason
from shared.tickets import ReadTicket, Ticket
from shared.wire.rows import EventRow, GateRow, PolicyRow, TicketRow, TicketTypeRow, ZoneRow
from shared.words.as_printed import as_printed


class Judged(Struct, frozen=True):
    """One entry and what the server knows about it. `fork` is set on every entry that shares its identity."""

    entry: Entry
    at: int  # corrected, ms
    uncertainty: int
    fork: bool = False
    quarantined: bool = False
    revoked: bool = False  # quarantined as of a revoked device, and accepted by an admin
    ref: int = 0  # the caller's reference, returned unchanged


class Facts(Struct, frozen=True):
    """The server's rows that bear on one entry, as they were at one moment."""

    organisation: str
    event: EventRow | None
    gate: GateRow | None
    zone: ZoneRow | None  # the ticket's, by its first row where there was none yet
    row: TicketRow | None
    ticket_type: TicketTypeRow | None
    policy: PolicyRow
    as_of: int  # when these were the rows, ms
    gates: tuple[GateRow, ...] = ()
    zone_room: Room | None = None
    gate_room: Room | None = None
    doors_opened: bool = False
    gate_opened: bool = False


class RowsAt(Protocol):
    """Looks up the server's rows at a position or time."""

    def at_position(self, entry: Entry) -> Facts | None:
        """The rows that the gate says it held; None where the server has no such position."""

    def at_time(self, entry: Entry, at: int) -> Facts:
        """The server's rows at that time; may return the same object as `at_position`, which saves a decision."""

    def first_row(self, entry: Entry) -> TicketRow | None:
        """The ticket's first row; None where it was never issued."""

    def code_was_issued(self, entry: Entry) -> bool:
        """Whether the code shown is the one of that issue; true where that cannot be known."""


class ConflictKind(StrEnum):
    """What an organiser must look at; the last is for information."""

    DUPLICATE = "duplicate"
    ADMITTED_THOUGH_DEAD = "admitted_though_dead"
    NEVER_ISSUED = "never_issued"
    FORGED_CODE = "forged_code"
    OVER_CAPACITY = "over_capacity"
    FORK = "fork"
    REVOKED_DEVICE = "revoked_device"
    REFUSED_THOUGH_RIGHT = "refused_though_right"


class Conflict(Struct, frozen=True):
    """One entry that contradicts the server's rows or other entries."""

    kind: ConflictKind
    of: Judged
    reason: Reason | None = None  # what the server would have answered
    against: Judged | None = None  # the entry that it repeats
    order_unsure: bool = False  # the clocks cannot tell which came first


class Outcome(Struct, frozen=True):
    """One real presentation, decided twice."""

    of: Judged
    gate_reason: Reason | None  # by the rows that the gate held; None where its position is not known
    guest_reason: Reason  # by the rows of that time
    gate_right: bool | None
    guest_right: bool


class Reconciliation(Struct, frozen=True):
    """The result for all entries of one ticket."""

    outcomes: tuple[Outcome, ...] = ()
    rightful: Judged | None = None  # the first admission that was the holder's own
    conflicts: tuple[Conflict, ...] = ()
    history: tuple[Passage, ...] = ()  # the history for later decisions: without duplicates
    counted: tuple[Passage, ...] = ()  # all movements, duplicates included: for occupancy


_NO_TICKET = frozenset(reason for ground in GROUND_ROWS for reason in ground.reasons)
"""Rows 0 to 4 of the admission table: the code proved nothing about a ticket of this event."""

_CONFLICT_OF_ROW = {
    7: ConflictKind.ADMITTED_THOUGH_DEAD,
    10: ConflictKind.DUPLICATE,
    11: ConflictKind.OVER_CAPACITY,
}
_CONFLICT_OF: dict[str, ConflictKind] = {
    reason: _CONFLICT_OF_ROW[row.number]
    for row in ENTRY_ROWS
    if row.number in _CONFLICT_OF_ROW
    for reason in row.reasons
    if reason is not Reason.NOT_IN_SNAPSHOT  # says what the gate knew, not what the ticket is
}
_SHOWN = frozenset({EntryKind.PRESENTATION, EntryKind.BY_HAND})
_WAYS = {str(direction): direction for direction in Direction}

Identity = tuple[int, int, int]


def reconcile(entries: Sequence[Judged], rows: RowsAt) -> Reconciliation:
    """Reconcile the entries of one ticket; a function of the set, whatever order or batches they came in."""
    distinct = _distinct(entries)
    annulled = {annulled_by(one.entry) for one in distinct if not one.quarantined and one.entry.mode == Mode.REAL}
    shown = sorted((one for one in distinct if one.entry.kind in _SHOWN), key=_order)
    course = _Course(rows, shown)
    for one in shown:
        if one.entry.reason not in _NO_TICKET:
            course.take(one, annulled=_identity(one) in annulled)
    return course.result()


def _identity(one: Judged) -> Identity:
    return one.entry.device, one.entry.branch, one.entry.seq


def _order(one: Judged) -> tuple[int, int, int, int, bytes]:
    entry = one.entry
    return one.at, entry.device, entry.branch, entry.seq, encode(entry) if one.fork else b""


def _distinct(entries: Sequence[Judged]) -> Sequence[Judged]:
    """Every entry once; those that share an identity and differ are forks."""
    if len(entries) == 1:
        return entries
    named: dict[Identity, list[Judged]] = {}
    for one in entries:
        twins = named.setdefault(_identity(one), [])
        if all(twin.entry != one.entry for twin in twins):
            twins.append(one)
    return [one if len(twins) == 1 else replace(one, fork=True) for twins in named.values() for one in twins]


@dataclass(slots=True)
class _Course:
    """One walk through a ticket's presentations in their order."""

    rows: RowsAt
    shown: list[Judged]
    outcomes: list[Outcome] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    history: list[Passage] = field(default_factory=list)
    counted: list[Passage] = field(default_factory=list)
    latest_entry: Judged | None = None
    rightful: Judged | None = None
    highest_issue: int = 0

    def result(self) -> Reconciliation:
        return Reconciliation(
            tuple(self.outcomes), self.rightful, tuple(self.conflicts), tuple(self.history), tuple(self.counted)
        )

    def take(self, one: Judged, *, annulled: bool) -> None:
        """Report alarms first, then decide entries that are real, not annulled and not quarantined."""
        facts = self.rows.at_time(one.entry, one.at)
        row = facts.row or self.rows.first_row(one.entry)
        if row is None:
            self.conflicts.append(Conflict(ConflictKind.NEVER_ISSUED, one))
        elif not self.rows.code_was_issued(one.entry):
            self.conflicts.append(Conflict(ConflictKind.FORGED_CODE, one))
        elif one.entry.mode == Mode.REAL and one.entry.direction in _WAYS and not annulled:
            self._alarm(one)
            if not one.quarantined:
                self._judge(one, replace(facts, row=row) if facts.row is None else facts)

    def _alarm(self, one: Judged) -> None:
        if one.entry.admitted and (one.quarantined or one.revoked):
            self.conflicts.append(Conflict(ConflictKind.REVOKED_DEVICE, one))
        if one.entry.admitted and one.fork:
            self.conflicts.append(Conflict(ConflictKind.FORK, one))

    def _judge(self, one: Judged, current: Facts) -> None:
        guest = self._verdict(one, current)
        held = self.rows.at_position(one.entry)
        gate = guest if held is current else None if held is None else self._verdict(one, held, current)
        self.outcomes.append(_outcome(one, gate, guest))
        if one.entry.admitted:
            self._admitted(one, guest)
        elif guest.admitted and not (
            _CONFLICT_OF.get(one.entry.reason) == ConflictKind.OVER_CAPACITY and _knows_no_room(current)
        ):
            self._conflict(ConflictKind.REFUSED_THOUGH_RIGHT, one, guest.reason)

    def _admitted(self, one: Judged, guest: Verdict) -> None:
        found = _against(one.entry, guest)
        kind = _CONFLICT_OF.get(found) if found else None
        if kind and found:
            self._conflict(kind, one, found)
        passage = _passage(one)
        self.counted.append(passage)
        if kind == ConflictKind.DUPLICATE:
            return
        self.history.append(passage)
        self.highest_issue = max(self.highest_issue, one.entry.issue)
        if passage.direction is Direction.ENTRY:
            self.latest_entry = one
            self.rightful = self.rightful or (one if guest.admitted and not kind else None)

    def _conflict(self, kind: ConflictKind, one: Judged, reason: Reason) -> None:
        against = self.latest_entry if kind == ConflictKind.DUPLICATE else None
        if kind == ConflictKind.DUPLICATE:
            unsure = against is not None and _overlap(one, against)
        elif kind == ConflictKind.REFUSED_THOUGH_RIGHT:
            unsure = any(_overlap(one, other) for other in self.shown if other is not one)
        else:
            unsure = self._wavers(one)
        self.conflicts.append(Conflict(kind, one, reason, against, unsure))

    def _wavers(self, one: Judged) -> bool:
        """Whether the decision would differ at a time within the clock's uncertainty."""
        if not one.uncertainty:
            return False
        moments = (one.at - one.uncertainty, one.at + one.uncertainty)
        return any(self._verdict(one, self._facts_at(one, moment)).admitted for moment in moments)

    def _facts_at(self, one: Judged, moment: int) -> Facts:
        facts = self.rows.at_time(one.entry, moment)
        return facts if facts.row else replace(facts, row=self.rows.first_row(one.entry))

    def _verdict(self, one: Judged, facts: Facts, later: Facts | None = None) -> Verdict:
        entry = one.entry
        row = facts.row or (later.row if later else None)
        return decide(
            Attempt(
                now=one.at,
                direction=_WAYS[entry.direction],
                mode=Mode.REAL,
                code=ReadTicket(_claims(one, row, facts.as_of), facts.organisation, False, entry.code_hash),
                organisation=facts.organisation,
                event=facts.event,
                gate=facts.gate,
                zone=facts.zone,
                row=facts.row,
                ticket_type=facts.ticket_type,
                history=tuple(self.history),
                policy=facts.policy,
                snapshot_as_of=facts.as_of,
                uncertainty=one.uncertainty,
                highest_issue_seen=self.highest_issue,
                zone_room=facts.zone_room,
                gate_room=facts.gate_room,
                gates=facts.gates,
                override=_override(entry),
                doors_opened=facts.doors_opened,
                gate_opened=facts.gate_opened,
            )
        )


def _outcome(one: Judged, gate: Verdict | None, guest: Verdict) -> Outcome:
    agreed = None if gate is None else gate.admitted == one.entry.admitted
    return Outcome(one, None if gate is None else gate.reason, guest.reason, agreed, guest.admitted)


def _knows_no_room(facts: Facts) -> bool:
    return facts.zone_room is None and facts.gate_room is None


def _against(entry: Entry, guest: Verdict) -> Reason | None:
    """The reason against an admission; none where a supervisor overrode exactly that denial."""
    if not guest.admitted:
        return guest.reason
    return None if guest.overridden == entry.override_denial else guest.overridden


def _overlap(one: Judged, other: Judged) -> bool:
    """Whether the clocks cannot tell which came first; within one journal the sequence can."""
    if (one.entry.device, one.entry.branch) == (other.entry.device, other.entry.branch):
        return False
    return abs(one.at - other.at) <= one.uncertainty + other.uncertainty


def _override(entry: Entry) -> Override | None:
    return Override(entry.override_by, entry.override_reason) if entry.admitted and entry.override_by else None


def _passage(one: Judged) -> Passage:
    entry = one.entry
    way = _WAYS[entry.direction]
    return Passage(one.at, entry.device, entry.branch, entry.seq, way, entry.gate, zone_of(entry))


def _claims(one: Judged, row: TicketRow | None, as_of: int) -> Ticket:
    """The code's claims as far as they matter: the row's, issued after any snapshot without the ticket."""
    entry = one.entry
    issued_at = max(one.at, as_of) // 1000 + 1
    if row is None:
        return Ticket(0, entry.event, entry.ticket_id, entry.issue, issued_at)
    return as_printed(row, entry.event, issue=entry.issue, issued_at=issued_at)
