"""What must hold of ticket types and tickets, and the words that name them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from shared.errors import Conflict, InvalidRequest
from shared.lifecycle import EventStatus
from shared.snapshot import TicketState
from shared.tickets import Entitlement, TicketFlags

ENTITLEMENTS: Final = {kind.name.lower(): kind for kind in Entitlement}
FLAGS: Final = {
    "wheelchair": TicketFlags.WHEELCHAIR,
    "companion": TicketFlags.COMPANION,
    "companion_reserved": TicketFlags.COMPANION_RESERVED,
    "vip": TicketFlags.VIP,
    "membership": TicketFlags.MEMBERSHIP,
    "exempt": TicketFlags.EXEMPT,
}
ISSUED_IN: Final = frozenset({EventStatus.DRAFT, EventStatus.PUBLISHED, EventStatus.LIVE, EventStatus.POSTPONED})
MOST_ISSUES: Final = 255
AT_ONCE: Final = 5_000
# Nobody mistakes one of these for another, in print or on the telephone.
LETTERS: Final = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
CODE_LENGTH: Final = 8
LEFT: Final = ">"
"""Before the key of a seat whose ticket is on its way to another."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat by the words printed on it; where the event has a layout, by what the layout calls it."""

    row: str = ""
    number: str = ""
    holder_name: str = ""
    section: str = ""
    seat_id: str = ""

    @property
    def words(self) -> str:
        """What people call it."""
        return " ".join(part for part in (self.section, self.row, self.number) if part)


def flags_of(names: Iterable[str]) -> TicketFlags:
    """The flags by their names."""
    flags = TicketFlags.NONE
    for name in names:
        flags |= FLAGS[name]
    return flags


def names_of(flags: int) -> list[str]:
    """The names of these flags."""
    return [name for name, flag in FLAGS.items() if flags & flag]


def seat_key(zone: int, seat: Seat) -> str:
    """By what two ways of writing one seat are the same."""
    section = f"{_plain(seat.section)}/" if seat.section else ""  # keys without one are older, and stay as they were
    return f"{zone}:{section}{_plain(seat.row)}:{_plain(seat.number)}"


def layout_key(seat: int) -> str:
    """The same for a seat of a layout: no zone has such a number."""
    return f"#{seat}"


def _plain(words: str) -> str:
    return " ".join(words.split()).casefold()


def days_bitmap(days: Iterable[int], of_event: int) -> int:
    """Bits of days counted from 1; none: every day."""
    bits = 0
    for day in days:
        if not 1 <= day <= of_event:
            raise InvalidRequest(f"valid_days: the event has days 1 to {of_event}, not {day}.", field="valid_days")
        bits |= 1 << day - 1
    return bits


def days_list(bits: int) -> list[int]:
    """Days counted from 1."""
    return [day + 1 for day in range(bits.bit_length()) if bits >> day & 1]


def require_issuing(status: EventStatus) -> None:
    """Conflict for an event that takes no more tickets."""
    if status not in ISSUED_IN:
        raise Conflict(f"An event that is {status.value} gets no more tickets.", code="event_not_available")


def require_next_issue(issue: int) -> None:
    """Conflict where a ticket was issued anew too often."""
    if issue >= MOST_ISSUES:
        raise Conflict("This ticket was issued anew too often. Cancel it and issue another.", code="too_many_issues")


_WAYS: Final = {
    TicketState.CANCELLED: frozenset({TicketState.VALID, TicketState.BLOCKED, TicketState.UNPAID}),
    TicketState.BLOCKED: frozenset({TicketState.VALID}),
    TicketState.VALID: frozenset({TicketState.BLOCKED, TicketState.UNPAID}),
}


def require_way(old: TicketState, new: TicketState) -> None:
    """Conflict where a ticket in this state cannot come into that one."""
    if old not in _WAYS.get(new, frozenset()):
        raise Conflict(
            f"A ticket that is {old.name.lower()} cannot become {new.name.lower()}.",
            code="invalid_ticket_state",
            old=old.name.lower(),
            new=new.name.lower(),
        )


def confirmation_code(random: bytes) -> str:
    """Eight unambiguous characters of eight random bytes."""
    value = int.from_bytes(random, "big")
    letters = []
    for _ in range(CODE_LENGTH):
        value, place = divmod(value, len(LETTERS))
        letters.append(LETTERS[place])
    return "".join(letters)


def check_limit(entitlement: Entitlement, limit: int | None) -> int:
    """The number of entries a day; only one kind of ticket has it."""
    if entitlement is Entitlement.LIMITED_REENTRY_PER_DAY:
        return limit or 1
    if limit:
        raise InvalidRequest("entry_limit: only limited_reentry_per_day has a number of entries.", field="entry_limit")
    return 0


def check_window(field: str, start: int | None, end: int | None) -> None:
    """InvalidRequest for a window that ends before it starts."""
    if start and end and start >= end:
        raise InvalidRequest(f"{field}: it must end after it starts.", field=field, code="invalid_times")
