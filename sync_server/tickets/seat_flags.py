"""What a ticket's flags say of where its guest sits: derived one way, when it is issued and when it moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from shared.tickets import TicketFlags
from sync_server.seating.overlay import EventZone
from sync_server.seating.plan import AccessMode, Category
from sync_server.seating.rules import Ground

_OF_SEATS: Final = {
    Category.WHEELCHAIR: TicketFlags.WHEELCHAIR | TicketFlags.COMPANION_RESERVED,
    Category.COMPANION: TicketFlags.COMPANION,
}
_OF_DOORS: Final = TicketFlags.MEMBERSHIP | TicketFlags.EXEMPT


def of_zone(zone: EventZone, ground: Ground, *, member: bool) -> TicketFlags:
    """What a zone gives whoever sits there by this right; a member's ticket hangs on the membership wherever it can."""
    flags = TicketFlags.VIP if zone.zone_type.vip else TicketFlags.NONE
    if ground.exempt:
        return flags | TicketFlags.EXEMPT
    return flags | (TicketFlags.MEMBERSHIP if member or ground is Ground.MEMBERSHIP else TicketFlags.NONE)


@dataclass(frozen=True, slots=True)
class Sitting:
    """A ticket's seat, as far as its flags speak of it."""

    zone: EventZone | None  # None: closed by now
    category: Category
    beside: TicketFlags = TicketFlags.NONE  # what the seat itself gives

    @property
    def open_to_all(self) -> bool:
        """Whether nobody was asked by what right he sits there."""
        return self.zone is None or self.zone.access_mode is AccessMode.PUBLIC


def of_seat(flags: TicketFlags, category: Category) -> TicketFlags:
    """What of these flags a seat of this category gave."""
    return flags & _OF_SEATS.get(category, TicketFlags.NONE)


def elsewhere(flags: TicketFlags, of_type: TicketFlags, was: Sitting, now: Sitting, *, member: bool) -> TicketFlags:
    """The flags of a ticket that sits elsewhere: what the old seat gave goes, what the new one gives comes.

    What its type promises it keeps, and what somebody said of the guest by hand.
    """
    lost = _OF_SEATS.get(was.category, TicketFlags.NONE)
    lost |= TicketFlags.VIP if was.zone is not None and was.zone.zone_type.vip else TicketFlags.NONE
    lost |= TicketFlags.NONE if was.open_to_all else _OF_DOORS
    given = TicketFlags.NONE if now.zone is None else of_zone(now.zone, _ground(flags, now), member=member)
    return flags & ~lost | of_type | given | now.beside


def _ground(flags: TicketFlags, now: Sitting) -> Ground:
    """By the right by which he was let in before: nobody is sent to another door."""
    if now.open_to_all:
        return Ground.OPEN
    return Ground.LIST if flags & TicketFlags.EXEMPT else Ground.MEMBERSHIP
