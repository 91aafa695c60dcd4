"""Was the gate right, was the guest right: one ticket's entries judged again, the same for every order of upload."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

from shared.admission import Attempt, Direction, Mode, Override, Passage, Room, Verdict, decide
from shared.as_printed import as_printed
from shared.reasons import Reason
from shared.rows import EventRow, GateRow, PolicyRow, TicketRow, TicketTypeRow, ZoneRow
from shared.scans import Entry, EntryKind, annulled_by, encode, zone_of
from shared.tickets import ReadTicket, Ticket


@dataclass(frozen=True, slots=True)
class Judged:
    """One entry and what the server found out about it. `fork` is set on every entry that shares its identity."""

    entry: Entry
    at: int  # corrected, ms
    uncertainty: int
    fork: bool = False
    quarantined: bool = False
    revoked: bool = False  # accepted by an admin out of the quarantine of a revoked device
    ref: int = 0  # the store's own name for it, handed back untouched


@dataclass(frozen=True, slots=True)
class Facts:
    """The server's rows that bear on one entry, as they were at one moment."""

    organisation: str
    event: EventRow | None
    gate: GateRow | None
    zone: ZoneRow | None  # the ticket's, by the earliest row where none was known yet
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
    """Looks up what the server knew."""

    def at_position(self, entry: Entry) -> Facts | None:
        """The rows that the gate held by its own account; None where that position is nobody's."""

    def at_time(self, entry: Entry, at: int) -> Facts:
        """The server's rows at that time; may answer the very object that at_position did, which saves a judgement."""

    def first_words(self, entry: Entry) -> TicketRow | None:
        """The first row that the server ever had of this ticket; None: it never issued such a ticket."""

    def was_handed_out(self, entry: Entry) -> bool:
        """Whether the code that was shown is the one of that issue; true where that cannot be told."""


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


@dataclass(frozen=True, slots=True)
class Conflict:
    """One entry that should not be as it is."""

    kind: ConflictKind
    of: Judged
    reason: Reason | None = None  # what the server would have answered
    against: Judged | None = None  # the entry that it repeats
    order_unsure: bool = False  # the clocks cannot tell what came first


@dataclass(frozen=True, slots=True)
class Outcome:
    """One real presentation, judged twice."""

    of: Judged
    gate_reason: Reason | None  # with the rows that the gate held; None: its position is not known
    guest_reason: Reason  # with the rows of that time
    gate_right: bool | None
    guest_right: bool


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What all entries of one ticket come to."""

    outcomes: tuple[Outcome, ...] = ()
    rightful: Judged | None = None  # the first admission that was the holder's own
    conflicts: tuple[Conflict, ...] = ()
    history: tuple[Passage, ...] = ()  # what judges later ones: without duplicates
    counted: tuple[Passage, ...] = ()  # who walked in and out, duplicates among them: for occupancy


_UNBELIEVED = frozenset(
    {
        Reason.GATE_NOT_READY,
        Reason.CANNOT_RECORD,
        Reason.UNREADABLE,
        Reason.UNSUPPORTED_VERSION,
        Reason.UNKNOWN_KEY,
        Reason.BAD_SIGNATURE,
        Reason.STALE_PROOF,
        Reason.WRONG_ORGANISATION,
        Reason.WRONG_EVENT,
    }
)
"""Rows 0 to 4: the code said nothing that may be held for or against a ticket of this event."""

_SPENT = (Reason.ALREADY_USED, Reason.DAILY_LIMIT_REACHED, Reason.ALREADY_INSIDE)
_DEAD = (Reason.TICKET_REPLACED, Reason.TICKET_CANCELLED, Reason.TICKET_BLOCKED, Reason.TICKET_UNPAID)
_FULL = (Reason.ZONE_FULL, Reason.GATE_FULL)
_CONFLICT_OF: dict[Reason, ConflictKind] = {
    **dict.fromkeys(_SPENT, ConflictKind.DUPLICATE),
    **dict.fromkeys(_DEAD, ConflictKind.ADMITTED_THOUGH_DEAD),
    **dict.fromkeys(_FULL, ConflictKind.OVER_CAPACITY),
}
_SHOWN = frozenset({EntryKind.PRESENTATION, EntryKind.BY_HAND})
_WAYS = frozenset(Direction)

Identity = tuple[int, int, int]


def reconcile(entries: Iterable[Judged], rows: RowsAt) -> Reconciliation:
    """What these entries of one ticket come to; a function of the set, whatever order or batches they came in."""
    distinct = _distinct(entries)
    annulled = {annulled_by(one.entry) for one in distinct if not one.quarantined and one.entry.mode == Mode.REAL}
    shown = sorted((one for one in distinct if one.entry.kind in _SHOWN), key=_order)
    course = _Course(rows, shown)
    for one in shown:
        if one.entry.reason not in _UNBELIEVED:
            course.take(one, annulled=_identity(one) in annulled)
    return course.result()


def _identity(one: Judged) -> Identity:
    return one.entry.device, one.entry.branch, one.entry.seq


def _order(one: Judged) -> tuple[int, int, int, int, bytes]:
    entry = one.entry
    return one.at, entry.device, entry.branch, entry.seq, encode(entry) if one.fork else b""


def _distinct(entries: Iterable[Judged]) -> list[Judged]:
    """Every entry once; those that share an identity and differ are forks, told or not."""
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
        """Alarms first, then the judgement of what is real, stands and may be held against somebody."""
        facts = self.rows.at_time(one.entry, one.at)
        row = facts.row or self.rows.first_words(one.entry)
        if row is None:
            self.conflicts.append(Conflict(ConflictKind.NEVER_ISSUED, one))
        elif not self.rows.was_handed_out(one.entry):
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

    def _judge(self, one: Judged, now_known: Facts) -> None:
        guest = self._verdict(one, now_known)
        held = self.rows.at_position(one.entry)
        gate = guest if held is now_known else None if held is None else self._verdict(one, held, now_known)
        self.outcomes.append(_outcome(one, gate, guest))
        if one.entry.admitted:
            self._admitted(one, guest)
        elif guest.admitted and not (one.entry.reason in _FULL and _knows_no_room(now_known)):
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
        """Whether an earlier or later moment, as near as the clock can tell, would have been answered otherwise."""
        if not one.uncertainty:
            return False
        moments = (one.at - one.uncertainty, one.at + one.uncertainty)
        return any(self._verdict(one, self._facts_at(one, moment)).admitted for moment in moments)

    def _facts_at(self, one: Judged, moment: int) -> Facts:
        facts = self.rows.at_time(one.entry, moment)
        return facts if facts.row else replace(facts, row=self.rows.first_words(one.entry))

    def _verdict(self, one: Judged, facts: Facts, known_later: Facts | None = None) -> Verdict:
        entry = one.entry
        row = facts.row or (known_later.row if known_later else None)
        return decide(
            Attempt(
                now=one.at,
                direction=Direction(entry.direction),
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
    """What speaks against an admission; nothing where the supervisor turned the very same denial."""
    if not guest.admitted:
        return guest.reason
    return None if guest.overridden == entry.override_denial else guest.overridden


def _overlap(one: Judged, other: Judged) -> bool:
    """Whether the clocks leave open which came first; within one journal the sequence says it."""
    if (one.entry.device, one.entry.branch) == (other.entry.device, other.entry.branch):
        return False
    return abs(one.at - other.at) <= one.uncertainty + other.uncertainty


def _override(entry: Entry) -> Override | None:
    return Override(entry.override_by, entry.override_reason) if entry.admitted and entry.override_by else None


def _passage(one: Judged) -> Passage:
    entry = one.entry
    return Passage(
        one.at, entry.device, entry.branch, entry.seq, Direction(entry.direction), entry.gate, zone_of(entry)
    )


def _claims(one: Judged, row: TicketRow | None, as_of: int) -> Ticket:
    """What the code says, as far as it matters: what the row says, issued after any snapshot that lacks it."""
    entry = one.entry
    issued_at = max(one.at, as_of) // 1000 + 1
    if row is None:
        return Ticket(0, entry.event, entry.ticket_id, entry.issue, issued_at)
    return as_printed(row, entry.event, issue=entry.issue, issued_at=issued_at)
