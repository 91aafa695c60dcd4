"""What one decision depends on, and what it says: plain values that gate and server fill in alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from shared.reasons import ADMITTING, Reason
from shared.snapshot import EventRow, GateRow, PolicyRow, TicketRow, TicketTypeRow, ZoneRow
from shared.tickets import ReadTicket, Refusal

LocalTime = Callable[[int, int], str]
"""Asked for (moment, now) in ms, answers words: "at 19:30", or "on Fri 3 July at 19:30" when that is another date."""


def utc_words(moment: int, now: int) -> str:
    """The plainest LocalTime: reads no time-zone database, so it says UTC."""
    clock = f"at {moment // 3_600_000 % 24:02}:{moment // 60_000 % 60:02} UTC"
    days = moment // 86_400_000 - now // 86_400_000
    if days == 0:
        return clock
    return f"{abs(days)} {'day' if abs(days) == 1 else 'days'} {'ahead' if days > 0 else 'ago'} {clock}"


class Direction(StrEnum):
    """Which way somebody walks."""

    ENTRY = "entry"
    EXIT = "exit"


class Mode(StrEnum):
    """Test scans never count and are never counted against anybody."""

    REAL = "real"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Passage:
    """An admitted, real, not annulled movement of one ticket (see shared.movements)."""

    at: int
    device: int
    branch: int
    seq: int
    direction: Direction
    gate: int
    zone: int


@dataclass(frozen=True, slots=True)
class Readiness:
    """Row 0: may this device decide at all."""

    ready: bool = True
    why: str = ""  # words for staff: not enrolled, no snapshot, revoked
    can_record: bool = True


@dataclass(frozen=True, slots=True)
class Room:
    """How full a zone or gate is; `limit` is what this device may fill up to (its share, when it hears nobody)."""

    inside: int
    limit: int
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Override:
    """A supervisor whose PIN was right, and the reason given."""

    by: int
    reason: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """Everything one decision depends on."""

    now: int
    direction: Direction
    mode: Mode
    code: ReadTicket | Refusal
    organisation: str  # the device's
    event: EventRow | None  # the assigned event that the ticket names; None: this device is not assigned to it
    gate: GateRow | None  # None: this device has no gate at this event
    zone: ZoneRow | None  # of the number that `zone_of` names
    row: TicketRow | None
    ticket_type: TicketTypeRow | None
    history: tuple[Passage, ...]  # what shared.movements.passages made of every movement known here
    policy: PolicyRow
    snapshot_as_of: int  # the server's signed time of the rows, ms
    uncertainty: int = 0  # of now, ms
    highest_issue_seen: int = 0  # by this gate or its peers
    readiness: Readiness = Readiness()
    zone_room: Room | None = None
    gate_room: Room | None = None
    gates: tuple[GateRow, ...] = ()  # of the event, to name the right one
    override: Override | None = None
    other_event: str = ""  # words about the event the ticket is for, where known
    doors_opened: bool = False  # a supervisor opened the doors of this event on this device
    gate_opened: bool = False  # likewise a closed gate
    local_time: LocalTime = field(default=utc_words, compare=False, repr=False)  # for words only


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision on one presentation."""

    reason: Reason
    message: str
    notices: tuple[str, ...] = ()
    overridden: Reason | None = None  # the denial that a supervisor turned

    @property
    def admitted(self) -> bool:
        """Whether the lamp turns green."""
        return self.reason in ADMITTING
