"""What somebody wishes to have issued, and what that comes to: admissions by ticket type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from shared.snapshot import MembershipState
from shared.tickets import TicketFlags
from sync_server.seating.access import Bearer
from sync_server.tickets import rules
from sync_server.tickets.models import TicketTypeRecord


@dataclass(frozen=True, slots=True)
class Member:
    """A membership that a ticket hangs on; the id is the membership's own, where it has one."""

    tier: str
    until: Millis = 0
    id: str = ""
    state: MembershipState = MembershipState.ACTIVE


@dataclass(frozen=True, slots=True)
class Wish:
    """What shall be issued: so many of a type, or these seats; type 0: as the seats' zones say."""

    ticket_type: int
    count: int = 0
    seats: Sequence[rules.Seat] = ()
    holder_name: str = ""
    flags: Iterable[str] = ()
    notes: str = ""
    unpaid: bool = False
    member: Member | None = None
    bearer: Bearer = field(default_factory=Bearer)  # whom the tickets are for, as zones ask
    bearers: Mapping[int, tuple[Bearer, Member | None]] = field(default_factory=dict)  # by place in `seats`: others
    party: str = ""  # "": a party of its own
    joins: int = 0  # a ticket of the same guest: companions may follow later
    holds: Sequence[str] = ()  # of the buyer, which are converted
    override: str = ""  # why the box office need not obey whom a zone lets in and what is kept

    @property
    def total(self) -> int:
        """How many tickets that makes."""
        return len(self.seats) or self.count

    def of(self, place: int) -> tuple[Bearer, Member | None]:
        """Whom one of the tickets is for."""
        return self.bearers.get(place, (self.bearer, self.member))


@dataclass(frozen=True, slots=True)
class Admission:
    """One ticket to be made: where it admits to, and what is particular about it."""

    zone: int  # of the event
    seat: int = 0  # number in the layout
    words: rules.Seat | None = None
    key: str | None = None  # under which no other ticket may have this seat
    flags: TicketFlags = TicketFlags.NONE
    member: Member | None = None


@dataclass(slots=True)
class Lot:
    """Admissions of one type."""

    kind: TicketTypeRecord
    admissions: list[Admission] = field(default_factory=list)


def in_words(kind: TicketTypeRecord, wish: Wish) -> Lot:
    """A lot of an event without a layout: seats are what is printed, if anything."""
    made = []
    for place, seat in enumerate(wish.seats or [None] * wish.count):
        member = wish.of(place)[1]
        flags = TicketFlags.MEMBERSHIP if member else TicketFlags.NONE
        made.append(Admission(kind.zone, 0, seat, rules.seat_key(kind.zone, seat) if seat else None, flags, member))
    return Lot(kind, made)


def require_words(seats: Sequence[rules.Seat]) -> None:
    """InvalidRequest for a seat that only a layout could know."""
    if any(not seat.number for seat in seats):
        raise InvalidRequest(
            "This event has no layout: name seats by the row and number that are printed on them.",
            field="seats",
            code="event_layout_not_found",
        )


def require_apart(zone: int, seats: Sequence[rules.Seat]) -> dict[str, str]:
    """What each seat is called, by its key; InvalidRequest where one is named twice."""
    keys = {rules.seat_key(zone, seat): seat.words for seat in seats}
    if len(keys) < len(seats):
        raise InvalidRequest("seats: a seat is named twice.", field="seats")
    return keys


def taken(names: Sequence[str]) -> Conflict:
    """What to say where seats belong to somebody already."""
    return Conflict(f"Taken already: {', '.join(names)}. Nothing was issued.", code="seat_taken", seats=list(names))
