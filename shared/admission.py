"""decide(attempt) -> Verdict: the ordered rules of admission; gate and server run this same function."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from shared.reasons import ADMITTING, Reason
from shared.snapshot import EventRow, GateRow, PolicyRow, TicketRow, TicketTypeRow, ZoneRow
from shared.tickets import ReadTicket, Refusal


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
    gate: GateRow | None
    zone: ZoneRow | None  # the ticket's zone, by the row if known, else by the claims
    row: TicketRow | None
    ticket_type: TicketTypeRow | None
    history: tuple[Passage, ...]  # in order of time, then device, then seq
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
