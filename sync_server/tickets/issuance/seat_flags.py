"""Derives a ticket's flags from its seat, both when it is issued and when it moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from shared.tickets import TicketFlags
from sync_server.seating.layouts.overlay import EventZone
from sync_server.seating.layouts.plan import AccessMode, Category
from sync_server.seating.rules import Entitlement

_SEAT_FLAGS: Final = {
    Category.WHEELCHAIR: TicketFlags.WHEELCHAIR | TicketFlags.COMPANION_RESERVED,
    Category.COMPANION: TicketFlags.COMPANION,
}
_ACCESS_FLAGS: Final = TicketFlags.MEMBERSHIP | TicketFlags.EXEMPT


def flags_from_zone(zone: EventZone, entitlement: Entitlement, *, member: bool) -> TicketFlags:
    """The flags that a zone gives; a member's ticket depends on the membership unless the guest is exempt."""
    flags = TicketFlags.VIP if zone.zone_type.vip else TicketFlags.NONE
    if entitlement.exempt:
        return flags | TicketFlags.EXEMPT
    return flags | (TicketFlags.MEMBERSHIP if member or entitlement is Entitlement.MEMBERSHIP else TicketFlags.NONE)


@dataclass(frozen=True, slots=True)
class SeatTraits:
    """What a ticket's seat contributes to its flags."""

    zone: EventZone | None  # None if it has been closed
    category: Category
    seat_flags: TicketFlags = TicketFlags.NONE  # from the seat itself

    @property
    def open_to_all(self) -> bool:
        """Whether the zone needs no entitlement."""
        return self.zone is None or self.zone.access_mode is AccessMode.PUBLIC


def flags_from_seat(flags: TicketFlags, category: Category) -> TicketFlags:
    """Those of the flags that come from a seat of this category."""
    return flags & _SEAT_FLAGS.get(category, TicketFlags.NONE)


def flags_after_move(
    flags: TicketFlags, type_flags: TicketFlags, old: SeatTraits, new: SeatTraits, *, member: bool
) -> TicketFlags:
    """The flags of a ticket that moves from one seat to another.

    Flags of the old seat are dropped and those of the new one added. Flags of the ticket type and flags set by hand
    stay.
    """
    lost = _SEAT_FLAGS.get(old.category, TicketFlags.NONE)
    lost |= TicketFlags.VIP if old.zone is not None and old.zone.zone_type.vip else TicketFlags.NONE
    lost |= TicketFlags.NONE if old.open_to_all else _ACCESS_FLAGS
    gained = (
        TicketFlags.NONE if new.zone is None else flags_from_zone(new.zone, _entitlement(flags, new), member=member)
    )
    return flags & ~lost | type_flags | gained | new.seat_flags


def _entitlement(flags: TicketFlags, new: SeatTraits) -> Entitlement:
    """The entitlement of before carries over, so that nobody is refused after a move."""
    if new.open_to_all:
        return Entitlement.OPEN
    return Entitlement.LIST if flags & TicketFlags.EXEMPT else Entitlement.MEMBERSHIP
