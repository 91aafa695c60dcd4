"""Rules about ticket types and tickets, and the names of their flags and entitlements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from shared.errors import Conflict, InvalidRequest
from shared.lifecycle import EventStatus
from shared.tickets import Entitlement, TicketFlags
from shared.wire.snapshot import TicketState

ENTITLEMENTS: Final = {kind.name.lower(): kind for kind in Entitlement}
FLAGS: Final = {
    "wheelchair": TicketFlags.WHEELCHAIR,
    "companion": TicketFlags.COMPANION,
    "companion_reserved": TicketFlags.COMPANION_RESERVED,
    "vip": TicketFlags.VIP,
    "membership": TicketFlags.MEMBERSHIP,
    "exempt": TicketFlags.EXEMPT,
}
ISSUABLE_STATUSES: Final = frozenset(
    {EventStatus.DRAFT, EventStatus.PUBLISHED, EventStatus.LIVE, EventStatus.POSTPONED}
)
MAX_ISSUES: Final = 255
MAX_TICKETS_PER_REQUEST: Final = 5_000
# Without characters that are easily confused in print or on the phone.
CODE_ALPHABET: Final = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
CODE_LENGTH: Final = 8
MOVING_PREFIX: Final = ">"
"""Put before the seat key of a ticket that is being moved."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat as printed on a ticket; `seat_id` is its id in the event's layout, if there is one."""

    row: str = ""
    number: str = ""
    holder_name: str = ""
    section: str = ""
    seat_id: str = ""

    @property
    def label(self) -> str:
        """Section, row and number."""
        return " ".join(part for part in (self.section, self.row, self.number) if part)


def flags_of(names: Iterable[str]) -> TicketFlags:
    """The flags with these names."""
    flags = TicketFlags.NONE
    for name in names:
        flags |= FLAGS[name]
    return flags


def names_of(flags: int) -> list[str]:
    """The names of these flags."""
    return [name for name, flag in FLAGS.items() if flags & flag]


def seat_key(zone: int, seat: Seat) -> str:
    """A key that is the same however the seat is written."""
    # Without a section the key stays as it always was.
    section = f"{_normalised(seat.section)}/" if seat.section else ""
    return f"{zone}:{section}{_normalised(seat.row)}:{_normalised(seat.number)}"


def layout_key(seat: int) -> str:
    """The key of a seat in a layout; it cannot equal a `seat_key`."""
    return f"#{seat}"


def _normalised(text: str) -> str:
    return " ".join(text.split()).casefold()


def days_bitmap(days: Iterable[int], of_event: int) -> int:
    """A bitmap of days counted from 1; 0 means every day."""
    bits = 0
    for day in days:
        if not 1 <= day <= of_event:
            raise InvalidRequest(f"valid_days: the event has days 1 to {of_event}, not {day}.", field="valid_days")
        bits |= 1 << day - 1
    return bits


def days_list(bits: int) -> list[int]:
    """The days in a bitmap, counted from 1."""
    return [day + 1 for day in range(bits.bit_length()) if bits >> day & 1]


def require_issuing(status: EventStatus) -> None:
    """Conflict if tickets can no longer be issued for the event."""
    if status not in ISSUABLE_STATUSES:
        raise Conflict(f"Tickets cannot be issued: the event is {status.value}.", code="event_not_available")


def require_next_issue(issue: int) -> None:
    """Conflict if the ticket has no issue numbers left."""
    if issue >= MAX_ISSUES:
        raise Conflict("This ticket has been reissued too often. Cancel it and issue another.", code="too_many_issues")


_ALLOWED_FROM: Final = {
    TicketState.CANCELLED: frozenset({TicketState.VALID, TicketState.BLOCKED, TicketState.UNPAID}),
    TicketState.BLOCKED: frozenset({TicketState.VALID}),
    TicketState.VALID: frozenset({TicketState.BLOCKED, TicketState.UNPAID}),
}


def require_transition(old: TicketState, new: TicketState) -> None:
    """Conflict if a ticket cannot change from one state to the other."""
    if old not in _ALLOWED_FROM.get(new, frozenset()):
        raise Conflict(
            f"The ticket is {old.name.lower()} and cannot become {new.name.lower()}.",
            code="invalid_ticket_state",
            old=old.name.lower(),
            new=new.name.lower(),
        )


def confirmation_code(random: bytes) -> str:
    """Eight unambiguous characters from eight random bytes."""
    value = int.from_bytes(random, "big")
    characters = []
    for _ in range(CODE_LENGTH):
        value, place = divmod(value, len(CODE_ALPHABET))
        characters.append(CODE_ALPHABET[place])
    return "".join(characters)


def check_limit(entitlement: Entitlement, limit: int | None) -> int:
    """The entry limit per day, or 0; InvalidRequest where the entitlement has no limit."""
    if entitlement is Entitlement.LIMITED_REENTRY_PER_DAY:
        return limit or 1
    if limit:
        raise InvalidRequest("entry_limit: only limited_reentry_per_day has an entry limit.", field="entry_limit")
    return 0


def check_window(field: str, start: int | None, end: int | None) -> None:
    """InvalidRequest for a window that does not end after it starts."""
    if start and end and start >= end:
        raise InvalidRequest(f"{field}: it must end after it starts.", field=field, code="invalid_times")


def check_sale_window(sale_start_at: int | None, sale_end_at: int | None, event_end_at: int) -> None:
    """InvalidRequest for sales that would begin or go on after the event."""
    if sale_start_at is not None and sale_start_at >= event_end_at:
        raise InvalidRequest(
            "sale_start_at: sales must begin before the event ends.", field="sale_start_at", code="invalid_times"
        )
    if sale_end_at is not None and sale_end_at > event_end_at:
        raise InvalidRequest(
            "sale_end_at: sales must end no later than the event.", field="sale_end_at", code="invalid_times"
        )


def check_order_limits(least: int, most: int) -> None:
    """InvalidRequest where an order could never have as many tickets as it must."""
    if least > most:
        raise InvalidRequest(
            f"min_per_order: {least} is more than max_per_order, which is {most}.", field="min_per_order"
        )
