"""Which ticket types a seat is sold as: pure, so that pages show the prices by which tickets are issued."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar


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
