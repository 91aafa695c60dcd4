"""Which ticket types a seat is sold as: pure, so that pages show the prices by which tickets are issued."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from sync_server.seating.plans.seat_plan import SeatPlan


class OfZone(Protocol):
    """A ticket type: its number and name, and the zone of the event that it is for; 0: any."""

    @property
    def number(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def zone(self) -> int: ...


T = TypeVar("T", bound=OfZone)


@dataclass(frozen=True, slots=True)
class SoldIn:
    """A zone, by its number at the event, and the ticket types that the event lists for it; none: no list."""

    event_zone: int
    listed: Collection[int] = ()

    @classmethod
    def at(cls, plan: SeatPlan, zone: int) -> SoldIn:
        """A zone of an event's layout, by its number there; a closed one has no number at the event."""
        found = plan.zones.get(zone)
        return cls(plan.event_zones.get(zone, 0), (found.price.get("ticket_types") or ()) if found is not None else ())

    def has(self, ticket_type: OfZone) -> bool:
        """Whether the type may be sold there."""
        return ticket_type.zone in {0, self.event_zone} and (not self.listed or ticket_type.number in self.listed)


def types_of_seat(ticket_types: Iterable[T], where: SoldIn, price_category: str) -> list[T]:
    """The types that decide what a seat of the zone costs.

    One: it is sold as that. Several, none of them alone named like the price category, or none: the buyer says which.
    """
    sold = [each for each in ticket_types if where.has(each) and (each.zone or where.listed)]
    matching = [each for each in sold if each.name.casefold() == price_category.casefold()]
    return matching if len(matching) == 1 else sold


def types_in_shop(
    ticket_types: Iterable[T], where: SoldIn, price_category: str, *, opened: Collection[int] = ()
) -> list[T]:
    """The types as which a shop that shows these sells the seat: one, or those among which the buyer chooses.

    Those that a code has opened are offered beside the one that decides.
    """
    here = [each for each in ticket_types if where.has(each)]
    deciding = types_of_seat(here, where, price_category) or here
    return [each for each in here if each in deciding or each.number in opened]
