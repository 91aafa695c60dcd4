"""An event's deltas over a layout: disabled and changed zones, blocked seats and prices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sync_server.seating.layouts.mistakes import Mistakes
from sync_server.seating.layouts.plan import AccessMode, ZoneType
from sync_server.seating.layouts.validation import access_problems


@dataclass(frozen=True, slots=True)
class LayoutZone:
    """A zone of a layout."""

    number: int
    id: str
    name: str
    zone_type: ZoneType
    capacity: int
    access_mode: AccessMode
    membership_tier: str | None
    allowed_roles: tuple[str, ...]
    focus: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Deltas:
    """What an event changes; zones and seats by number in the layout."""

    blocked: frozenset[int] = frozenset()
    disabled: frozenset[int] = frozenset()
    zones: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)  # zone_type, access_mode, capacity …
    prices: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    released: frozenset[int] = frozenset()  # stranded seats that are sold without seating rules


@dataclass(frozen=True, slots=True)
class EventZone(LayoutZone):
    """A zone of a layout with the changes of an event applied."""

    price: Mapping[str, Any]


def event_zones(zones: Iterable[LayoutZone], deltas: Deltas, blocked: Mapping[int, int]) -> tuple[EventZone, ...]:
    """The zones that are open at the event; `blocked` counts the blocked seats of each."""
    return tuple(
        _event_zone(zone, deltas, blocked.get(zone.number, 0)) for zone in zones if zone.number not in deltas.disabled
    )


def _event_zone(zone: LayoutZone, deltas: Deltas, blocked: int) -> EventZone:
    changed = deltas.zones.get(zone.number, {})
    mode = AccessMode(changed.get("access_mode", zone.access_mode))
    return EventZone(
        number=zone.number,
        id=zone.id,
        name=zone.name,
        zone_type=ZoneType(changed.get("zone_type", zone.zone_type)),
        capacity=_capacity(zone, changed, blocked),
        access_mode=mode,
        membership_tier=changed.get("membership_tier", zone.membership_tier),
        allowed_roles=tuple(changed.get("allowed_roles", zone.allowed_roles)),
        focus=zone.focus,
        price=deltas.prices.get(zone.number, {}),
    )


def _capacity(zone: LayoutZone, changed: Mapping[str, Any], blocked: int) -> int:
    seats_left = zone.capacity - blocked
    if ZoneType(changed.get("zone_type", zone.zone_type)).numbered:
        return seats_left
    return int(changed.get("capacity", seats_left))


def check_deltas(zones: Sequence[LayoutZone], deltas: Deltas) -> None:
    """Raise InvalidRequest with every change that is not possible."""
    mistakes = Mistakes()
    for zone in zones:
        for where, problem in zone_problems(zone, deltas.zones.get(zone.number, {})):
            mistakes.add(where, problem)
    if {zone.number for zone in zones} <= deltas.disabled:
        mistakes.add("disabled_zones", "at least one zone must stay open")
    mistakes.stop("invalid_event_layout")


def zone_problems(zone: LayoutZone, changed: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Why a zone cannot be changed like this, each with its place in the request."""
    place = f"zone_overrides[{zone.id}]"
    kind = ZoneType(changed.get("zone_type", zone.zone_type))
    if kind.numbered and not zone.zone_type.numbered:
        yield f"{place}.zone_type", f"{zone.name} has no seats of its own, so it cannot be {kind}"
    if kind.numbered and "capacity" in changed:
        yield f"{place}.capacity", "is the number of its seats; block some of them instead"
    after = _event_zone(zone, Deltas(zones={zone.number: changed}), 0)
    yield from access_problems(place, after.access_mode, after.membership_tier, after.allowed_roles)
