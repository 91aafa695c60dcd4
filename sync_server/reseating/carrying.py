"""What an event changed about its old layout comes along to the new one, as far as seats and zones are still there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlalchemy.orm import Session

from sync_server.seating import queries, rules
from sync_server.seating.event_layouts import Chosen
from sync_server.seating.overlay import LayoutZone, zone_mistakes
from sync_server.seating.rules import Policy

WORDS: Final = ("blocked_seats", "disabled_zones", "zone_overrides", "price_zones", "seating_overrides")
"""The parts of a choice; those that an organiser says in the request are taken as they are said."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Something that could not come along."""

    what: str  # one of WORDS
    name: str  # the seat_id, the zone as people call it, or the field of the policy
    why: str


@dataclass(frozen=True, slots=True)
class Carried:
    """How much of each part came along, and what could not."""

    kept: Mapping[str, int] = field(default_factory=dict)
    lost: tuple[Lost, ...] = ()


@dataclass(frozen=True, slots=True)
class _Ways:
    """From the old layout to the new one."""

    old: Mapping[int, LayoutZone]
    new: Mapping[str, LayoutZone]  # by id

    def part(self, what: str, numbers: Collection[int]) -> tuple[list[LayoutZone], list[Lost]]:
        """The zones of the old layout that are in the new one too, and the others."""
        there = [self.old[number] for number in numbers if self.old[number].id in self.new]
        gone = [self.old[number].name for number in numbers if self.old[number].id not in self.new]
        return there, [Lost(what, name, "no_such_zone") for name in gone]


def carried(
    session: Session, organisation_id: str, event_id: str, chosen: Chosen, said: Collection[str]
) -> tuple[Chosen, Carried]:
    """The choice with all that the event has and the request does not speak of; NotFound for a foreign layout."""
    queries.layout(session, organisation_id, chosen.layout_id)
    present = queries.event_layout(session, organisation_id, event_id)
    deltas = queries.deltas(present)
    ways = _Ways(
        {zone.number: zone for zone in queries.zones(session, present.layout_id)},
        {zone.id: zone for zone in queries.zones(session, chosen.layout_id)},
    )
    seats, no_seats = _seats(session, present.layout_id, chosen.layout_id, deltas.blocked)
    closed, not_closed = ways.part("disabled_zones", sorted(deltas.disabled))
    used, not_used = _usable(ways, deltas.zones)
    priced, not_priced = ways.part("price_zones", sorted(deltas.prices))
    own, not_own = _permitted(queries.policy(session, organisation_id), present.seating_overrides)
    found: dict[str, Any] = {
        "blocked_seats": seats,
        "disabled_zones": tuple(zone.id for zone in closed),
        "zone_overrides": {zone.id: deltas.zones[zone.number] for zone in used},
        "price_zones": {zone.id: deltas.prices[zone.number] for zone in priced},
        "seating_overrides": own,
    }
    silent = {what: some for what, some in found.items() if what not in said}
    lost = tuple(one for one in (*no_seats, *not_closed, *not_used, *not_priced, *not_own) if one.what in silent)
    return replace(chosen, **silent), Carried({what: len(some) for what, some in silent.items()}, lost)


def _seats(session: Session, old: str, new: str, blocked: Collection[int]) -> tuple[tuple[str, ...], list[Lost]]:
    names = queries.seat_names(session, old, blocked)
    there = queries.seat_numbers(session, new, names)
    gone = [Lost("blocked_seats", name, "no_such_seat") for name in names if name not in there]
    return tuple(name for name in names if name in there), gone


def _permitted(policy: Policy, overrides: Mapping[str, Any]) -> tuple[dict[str, Any], list[Lost]]:
    """What an event may still decide itself; some may have become mandatory since."""
    kept = {name: value for name, value in overrides.items() if rules.permitted(policy, name, value)}
    return kept, [Lost("seating_overrides", name, "mandatory") for name in sorted(overrides) if name not in kept]


def _usable(ways: _Ways, changed: Mapping[int, Mapping[str, Any]]) -> tuple[list[LayoutZone], list[Lost]]:
    """Zones that can be used as before; one that is of another kind now may not."""
    there, lost = ways.part("zone_overrides", sorted(changed))
    fits = [zone for zone in there if not any(_mistakes(ways, zone, changed))]
    misfits = [Lost("zone_overrides", zone.name, "zone_is_otherwise") for zone in there if zone not in fits]
    return fits, lost + misfits


def _mistakes(ways: _Ways, zone: LayoutZone, changed: Mapping[int, Mapping[str, Any]]) -> Iterator[object]:
    return zone_mistakes(ways.new[zone.id], changed[zone.number])
