"""The input and output of one decision, as plain values that gate and server build in the same way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from msgspec import Struct

from shared.reasons import ADMITTING, Reason
from shared.tickets import ReadTicket, Refusal
from shared.wire.snapshot import EventRow, GateRow, PolicyRow, TicketRow, TicketTypeRow, ZoneRow
from shared.words.local_moments import local_moment

LocalTime = Callable[[int, int], str]
"""Words for (moment, now) in ms: "at 19:30", or "on Fri 3 July at 19:30" on another date."""


class Direction(StrEnum):
    """The direction of a scan."""

    ENTRY = "entry"
    EXIT = "exit"


class Mode(StrEnum):
    """Real or test: test scans never count."""

    REAL = "real"
    TEST = "test"


class Passage(Struct, frozen=True):
    """An admitted, real movement of one ticket that was not annulled (see shared.movements)."""

    at: int
    device: int
    branch: int
    seq: int
    direction: Direction
    gate: int
    zone: int


class Readiness(Struct, frozen=True):
    """Row 0: whether this device may decide at all."""

    ready: bool = True
    why: str = ""  # for staff: not enrolled, no snapshot, revoked
    can_record: bool = True


@dataclass(frozen=True, slots=True)
class Room:
    """How full a zone or gate is; `limit` is how far this device may fill it (its share, while offline)."""

    inside: int
    limit: int
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Override:
    """A supervisor with the right PIN, and the reason given."""

    by: int
    reason: str


class Attempt(Struct, frozen=True):
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
    history: tuple[Passage, ...]  # from shared.movements.passages, of all movements known here
    policy: PolicyRow
    snapshot_as_of: int  # the server's signed time of the rows, ms
    uncertainty: int = 0  # of now, ms
    highest_issue_seen: int = 0  # by this gate or its peers
    readiness: Readiness = Readiness()
    zone_room: Room | None = None
    gate_room: Room | None = None
    gates: tuple[GateRow, ...] = ()  # of the event, to name the right one
    override: Override | None = None
    other_event: str = ""  # name and time of the event the ticket is for, if known
    doors_opened: bool = False  # a supervisor opened the doors of this event on this device
    gate_opened: bool = False  # likewise a closed gate
    local_time: LocalTime = local_moment  # for messages only


class Verdict(Struct, frozen=True):
    """The decision on one presentation."""

    reason: Reason
    message: str
    notices: tuple[str, ...] = ()
    overridden: Reason | None = None  # the denial that a supervisor overrode

    @property
    def admitted(self) -> bool:
        """Whether the lamp turns green."""
        return self.reason in ADMITTING
