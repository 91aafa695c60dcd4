"""The values a gate receives: rows, movements, and the position that identifies a state of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum

import msgspec

from shared.claims import Entitlement, TicketFlags


class RowKind(IntEnum):
    """The kinds of rows; their numbers are part of the wire format and the digest."""

    EVENT = 1
    GATE = 2
    ZONE = 3
    TICKET_TYPE = 4
    TICKET = 5
    KEY = 6
    DEVICE = 7
    SUPERVISOR = 8
    POLICY = 9


class TicketState(IntEnum):
    """The state of a ticket. Replacement shows in the issue number and is not a state."""

    VALID = 0
    CANCELLED = 1
    BLOCKED = 2
    UNPAID = 3


class MembershipState(IntEnum):
    """The state of the membership a ticket was bought with."""

    NONE = 0
    ACTIVE = 1
    REVOKED = 2


class EventDay(msgspec.Struct, frozen=True, array_like=True):
    """One event day: its date, and its span in UTC."""

    date: str  # 2026-07-04
    start: int
    until: int  # not included


# The order of fields is the wire format: fields are only appended, with a default.


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event, as a gate needs it."""

    number: int
    organisation: str
    name: str
    status: str  # shared.lifecycle.EventStatus
    starts_at: int
    ends_at: int
    timezone: str  # for display only
    days: tuple[EventDay, ...]
    rescheduled_at: int | None = None
    go_live_at: int | None = None
    end_at_auto: int | None = None
    counts_from: int | None = None
    anti_passback: bool = False
    cutover_empties: bool = True
    venue: str = ""


@dataclass(frozen=True, slots=True)
class GateRow:
    """One entrance."""

    number: int
    code: str
    name: str
    open: bool = True
    zones: tuple[int, ...] = ()  # empty: serves all
    capacity: int | None = None
    step_free: bool = False


@dataclass(frozen=True, slots=True)
class ZoneRow:
    """One zone of the venue."""

    number: int
    name: str
    kind: str = "reserved_seating"  # reserved_seating, ga_seated, ga_standing, vip_reserved, vip_standing
    capacity: int | None = None
    membership_tier: str | None = None


@dataclass(frozen=True, slots=True)
class TicketTypeRow:
    """One kind of ticket; `check` is what staff must check: age, ID, name."""

    number: int
    name: str
    check: str = ""
    badge: str = ""  # the layout that gates print on admission (shared.badges.layout); empty: none


@dataclass(frozen=True, slots=True)
class TicketRow:
    """A ticket as the server knows it; takes precedence over the printed claims."""

    ticket_id: int
    issue: int
    state: TicketState
    ticket_type: int
    zone: int
    seat: int
    seat_row: str
    seat_number: str
    valid_days: int
    entitlement: Entitlement
    limit: int
    flags: TicketFlags
    not_before: int  # unix seconds, 0: none
    not_after: int
    membership_tier: str
    membership_state: MembershipState
    membership_until: int  # ms, 0: none; not included
    number: str
    confirmation_code: str
    name: str = ""  # only if the event requires name checks
    notes: str = ""


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One ticket-signing key."""

    id: int
    organisation: str
    public: bytes
    state: str  # shared.keys.KeyState


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """One device that may sign journals of this event."""

    number: int
    name: str
    public: bytes
    revoked: bool = False


@dataclass(frozen=True, slots=True)
class SupervisorRow:
    """A supervisor, who may override with a PIN; the verifier is an argon2id hash."""

    number: int
    name: str
    verifier: str


class WhenUncertain(StrEnum):
    """What to do if the clock is too uncertain to decide a time limit."""

    ADMIT = "admit"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """The organiser's admission policy for this event (one row, number 0)."""

    number: int = 0
    known_tickets_only: bool = False
    max_snapshot_age_ms: int | None = None
    clock_uncertain: WhenUncertain = WhenUncertain.ADMIT
    repeat_ms: int = 5_000


AnyRow = EventRow | GateRow | ZoneRow | TicketTypeRow | TicketRow | KeyRow | DeviceRow | SupervisorRow | PolicyRow


class Row(msgspec.Struct, frozen=True, gc=False):
    """A row as it is sent and stored; `body` is None once it is deleted."""

    # A struct, not a dataclass: a first sync creates hundreds of thousands of them.
    kind: RowKind
    key: int
    body: bytes | None


@dataclass(frozen=True, slots=True)
class Position:
    """Identifies one state of an event's rows."""

    lineage: bytes  # 8 random bytes
    revision: int
    digest: bytes  # 16 bytes, order-independent over the live rows


class MovementKind(IntEnum):
    """The kind of a movement."""

    ENTRY = 1
    EXIT = 2
    ANNULMENT = 3


class Movement(msgspec.Struct, frozen=True):
    """An admitted entry or exit, or an annulment, identified by (device, branch, seq)."""

    device: int
    branch: int
    seq: int
    kind: MovementKind
    ticket_id: int
    issue: int
    code_hash: bytes
    at: int  # corrected time, ms
    gate: int
    zone: int
    annuls: tuple[int, int, int] | None = None  # (device, branch, seq) of the annulled movement
