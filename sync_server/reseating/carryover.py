"""Carries an event's overrides over to a new layout, as far as its seats and zones still exist."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy.orm import Session

from sync_server.seating import queries, rules
from sync_server.seating.event_layouts import LayoutChoice
from sync_server.seating.layouts.overlay import LayoutZone, zone_problems
from sync_server.seating.plans.layout_seats import LayoutSeats
from sync_server.seating.plans.seat_plans import layout_seats
from sync_server.seating.rules import Policy


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """An override that could not be carried over."""

    what: str  # a field of LayoutChoice
    name: str  # the seat_id, the name of the zone, or the policy field
    why: str


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """How many overrides of each part were carried over, and which could not be."""

    counts: Mapping[str, int] = field(default_factory=dict)
    lost: tuple[LeftBehind, ...] = ()


@dataclass(frozen=True, slots=True)
class _Zones:
    """The zones of both layouts."""

    old: Mapping[int, LayoutZone]
    new: Mapping[str, LayoutZone]  # by id

    def part(self, what: str, numbers: Collection[int]) -> tuple[list[LayoutZone], list[LeftBehind]]:
        """The zones of the old layout that also exist in the new one, and the others as left behind."""
        existing = [self.old[number] for number in numbers if self.old[number].id in self.new]
        missing = [self.old[number].name for number in numbers if self.old[number].id not in self.new]
        return existing, [LeftBehind(what, name, "no_such_zone") for name in missing]


def carry_over(
    session: Session, organisation_id: str, event_id: str, chosen: LayoutChoice, given: Collection[str]
) -> tuple[LayoutChoice, CarriedOver]:
    """The choice completed with the event's overrides for all parts not `given` in the request.

    NotFound for a layout of another organisation.
    """
    queries.layout(session, organisation_id, chosen.layout_id)
    current = queries.event_layout(session, organisation_id, event_id)
    deltas = queries.deltas(current)
    old, new = (layout_seats(session, organisation_id, id) for id in (current.layout_id, chosen.layout_id))
    zones = _Zones({zone.number: zone for zone in old.zones}, {zone.id: zone for zone in new.zones})
    seats, no_seats = _seats(old, new, deltas.blocked)
    closed, not_closed = zones.part("disabled_zones", sorted(deltas.disabled))
    used, not_used = _usable(zones, deltas.zones)
    priced, not_priced = zones.part("price_zones", sorted(deltas.prices))
    own, not_own = _permitted(queries.policy(session, organisation_id), current.seating_overrides)
    found: dict[str, Any] = {
        "blocked_seats": seats,
        "disabled_zones": tuple(zone.id for zone in closed),
        "zone_overrides": {zone.id: deltas.zones[zone.number] for zone in used},
        "price_zones": {zone.id: deltas.prices[zone.number] for zone in priced},
        "seating_overrides": own,
    }
    carried = {part: values for part, values in found.items() if part not in given}
    lost = (*no_seats, *not_closed, *not_used, *not_priced, *not_own)
    lost_parts = tuple(item for item in lost if item.what in carried)
    return replace(chosen, **carried), CarriedOver({part: len(values) for part, values in carried.items()}, lost_parts)


def _seats(old: LayoutSeats, new: LayoutSeats, blocked: Collection[int]) -> tuple[tuple[str, ...], list[LeftBehind]]:
    names = old.names_of(blocked)
    existing = new.find_all(names)
    missing = [LeftBehind("blocked_seats", name, "no_such_seat") for name in names if name not in existing]
    return tuple(name for name in names if name in existing), missing


def _permitted(policy: Policy, overrides: Mapping[str, Any]) -> tuple[dict[str, Any], list[LeftBehind]]:
    """The policy overrides that are still allowed; some fields may have become mandatory since."""
    allowed = {name: value for name, value in overrides.items() if rules.permitted(policy, name, value)}
    return allowed, [
        LeftBehind("seating_overrides", name, "mandatory") for name in sorted(overrides) if name not in allowed
    ]


def _usable(zones: _Zones, changed: Mapping[int, Mapping[str, Any]]) -> tuple[list[LayoutZone], list[LeftBehind]]:
    """The zones whose changes are still possible; a zone of another type may not allow them."""
    existing, lost = zones.part("zone_overrides", sorted(changed))
    fits = [zone for zone in existing if not any(_mistakes(zones, zone, changed))]
    misfits = [LeftBehind("zone_overrides", zone.name, "zone_is_otherwise") for zone in existing if zone not in fits]
    return fits, lost + misfits


def _mistakes(zones: _Zones, zone: LayoutZone, changed: Mapping[int, Mapping[str, Any]]) -> Iterator[object]:
    return zone_problems(zones.new[zone.id], changed[zone.number])
