"""A request to issue tickets, and the ticket drafts made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from shared.tickets import TicketFlags
from shared.wire.snapshot import MembershipState
from sync_server.events.days.chosen_days import ChosenDays
from sync_server.holds.selling.inventory import Held
from sync_server.seating.zone_access.entitlements import Bearer
from sync_server.tickets import rules
from sync_server.tickets.issuance.ticket_days import TicketDays
from sync_server.tickets.models import TicketTypeRecord


@dataclass(frozen=True, slots=True)
class Member:
    """The membership that a ticket depends on; without an id its tier is unverified."""

    tier: str
    until: Millis = 0
    id: str = ""
    state: MembershipState = MembershipState.ACTIVE


@dataclass(frozen=True, slots=True)
class IssueRequest:
    """Tickets to issue: a number of one type, or seats; ticket type 0 lets the seats decide."""

    ticket_type: int
    count: int = 0
    seats: Sequence[rules.Seat] = ()
    holder_name: str = ""
    flags: Iterable[str] = ()
    notes: str = ""
    unpaid: bool = False
    member: Member | None = None
    bearer: Bearer = field(default_factory=Bearer)  # whom the tickets are for
    # By index in `seats`, where they differ.
    bearers: Mapping[int, tuple[Bearer, Member | None]] = field(default_factory=dict)
    types: Mapping[int, int] = field(default_factory=dict)  # ticket types by index in `seats`, where they differ
    # What was paid for each ticket of a type, in their order, where it is not the price now.
    prices: Mapping[int, Sequence[int]] = field(default_factory=dict)
    group_id: str = ""  # empty: a new group
    joins: int = 0  # the seat of an earlier ticket of the group, for companions who follow later
    holds: Sequence[str] = ()  # the buyer's holds, to be converted
    held: Sequence[Held] | None = None  # their rows, where the caller has read them under the lock of the event
    for_order: str = ""  # which takes over the holds of seats as they are sold
    reserved: bool = False  # an order has counted them already; at an event of one day
    ids: Mapping[int, int] = field(default_factory=dict)  # of the tickets by seat, where they were drawn already
    dates: tuple[str, ...] = ()  # of the days; none: those of the holds, or else of the ticket type
    override: str = ""  # the reason for overriding access and accessibility rules

    @property
    def total(self) -> int:
        """The number of tickets."""
        return len(self.seats) or self.count

    def type_of(self, index: int) -> int:
        """The ticket type of the seat at this index; 0 lets the seat decide."""
        return self.types.get(index, self.ticket_type)

    def of(self, index: int) -> tuple[Bearer, Member | None]:
        """Whom the ticket at this index is for."""
        return self.bearers.get(index, (self.bearer, self.member))


@dataclass(frozen=True, slots=True)
class TicketDraft:
    """One ticket to be created: its zone and seat, and what differs from the others."""

    zone: int  # of the event
    days: ChosenDays
    seat: int = 0  # number in the layout
    printed: rules.Seat | None = None
    key: str | None = None  # unique per seat of the event
    flags: TicketFlags = TicketFlags.NONE
    member: Member | None = None


@dataclass(slots=True)
class TicketBatch:
    """Drafts of one ticket type."""

    ticket_type: TicketTypeRecord
    drafts: list[TicketDraft] = field(default_factory=list)


def batch_without_layout(ticket_type: TicketTypeRecord, request: IssueRequest, days: TicketDays) -> TicketBatch:
    """The drafts for an event without a layout, where seats are only what is printed."""
    drafts = []
    for index, seat in enumerate(request.seats or [None] * request.count):
        member = request.of(index)[1]
        flags = TicketFlags.MEMBERSHIP if member else TicketFlags.NONE
        drafts.append(
            TicketDraft(
                ticket_type.zone,
                days.of_places(ticket_type),
                0,
                seat,
                rules.seat_key(ticket_type.zone, seat) if seat else None,
                flags,
                member,
            )
        )
    return TicketBatch(ticket_type, drafts)


def require_printed_seats(seats: Sequence[rules.Seat]) -> None:
    """InvalidRequest for a seat that is named by its id in a layout."""
    if any(not seat.number for seat in seats):
        raise InvalidRequest(
            "This event has no layout: name seats by row and number.",
            field="seats",
            code="event_layout_not_found",
        )


def seat_labels(zone: int, seats: Sequence[rules.Seat]) -> dict[str, str]:
    """Labels of the seats by key; InvalidRequest if one is listed twice."""
    labels = {rules.seat_key(zone, seat): seat.label for seat in seats}
    if len(labels) < len(seats):
        raise InvalidRequest("seats: a seat is listed twice.", field="seats")
    return labels


def seats_taken_error(names: Sequence[str], dates: Sequence[str] = ()) -> Conflict:
    """The error for seats that already have a ticket, on these days."""
    on, details = (f" on {', '.join(dates)}", {"days": list(dates)}) if dates else ("", {})
    message = f"Already taken{on}: {', '.join(names)}. Nothing was issued."
    return Conflict(message, code="seat_taken", seats=list(names), **details)
