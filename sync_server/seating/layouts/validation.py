"""The rules that every layout must meet, whatever its source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from sync_server.plumbing.text import as_shown
from sync_server.seating.layouts.mistakes import Mistakes
from sync_server.seating.layouts.plan import (
    AccessMode,
    Category,
    GroupPlan,
    GroupType,
    LayoutPlan,
    PlannedSeat,
    ZonePlan,
)

MOST_SEATS: Final = 250_000
MOST_PEOPLE: Final = 1_000_000
LONGEST_ROW: Final = 1000
LONGEST: Final = {"seat_id": 80, "row": 20, "number": 20, "section": 60, "price_category": 60}
FURTHEST: Final = 1e7


def check(plan: LayoutPlan) -> None:
    """Raise InvalidRequest with every mistake of a layout and its place."""
    mistakes = Mistakes()
    for place, problem in _problems(plan):
        mistakes.add(place, problem)
    mistakes.stop()


def check_fits_venue(plan: LayoutPlan, venue_capacity: int) -> None:
    """Raise InvalidRequest for a layout that holds more people than its venue; 0: the venue has no limit."""
    mistakes = Mistakes()
    if venue_capacity and plan.capacity > venue_capacity:
        problem = f"the zones hold {plan.capacity} people in total, but the venue only {venue_capacity}"
        mistakes.add("zones", problem)
    mistakes.stop()


def _problems(plan: LayoutPlan) -> Iterator[tuple[str, str]]:
    if not _shown(plan.name, *(text for zone in plan.zones for text in (zone.name, zone.membership_tier or ""))):
        yield "zones", "a name contains invisible characters; write it again"
    if not 1 <= len(plan.name) <= 100:
        yield "name", "must have 1 to 100 characters"
    if not plan.zones:
        yield "zones", "a layout needs at least one zone"
    if sum(len(zone.seats) for zone in plan.zones) > MOST_SEATS:
        yield "zones", f"has more than {MOST_SEATS} seats; split the venue into several layouts"
    for name in _duplicates(zone.name for zone in plan.zones):
        yield "zones", f"two zones are called {name!r}"
    for at, zone in enumerate(plan.zones):
        yield from _zone(f"zones[{at}]", zone)
    yield from _seat_ids(plan)
    yield from _companions(plan)
    yield from _groups(plan)


def _shown(*texts: str) -> bool:
    return all(as_shown(text) == text for text in texts)


def _zone(place: str, zone: ZonePlan) -> Iterator[tuple[str, str]]:
    yield from access_problems(place, zone.access_mode, zone.membership_tier, zone.allowed_roles)
    if not 1 <= zone.capacity <= MOST_PEOPLE:
        yield f"{place}.capacity", f"must be 1 to {MOST_PEOPLE}"
    if zone.zone_type.numbered and zone.capacity != len(zone.seats):
        yield f"{place}.capacity", f"is {zone.capacity}, but the zone lists {len(zone.seats)} seats"
    if not zone.zone_type.numbered and zone.seats:
        yield f"{place}.seats", f"a zone of type {zone.zone_type} has a capacity but no seats of its own"
    if not 1 <= len(zone.name) <= 100:
        yield f"{place}.name", "must have 1 to 100 characters"
    if len(zone.membership_tier or "") > 40:
        yield f"{place}.membership_tier", "must have at most 40 characters"
    yield from _rows(place, zone)
    for at, seat in enumerate(zone.seats):
        yield from _seat(f"{place}.seats[{at}]", seat)


def _seat(place: str, seat: PlannedSeat) -> Iterator[tuple[str, str]]:
    for name, longest in LONGEST.items():
        value: str = getattr(seat, name)
        if len(value) > longest or not value.isprintable():
            yield f"{place}.{name}", f"must have at most {longest} characters, all printable"
        if not value and name in {"seat_id", "row", "number"}:
            yield f"{place}.{name}", "is empty"
    if (seat.x is None) != (seat.y is None):
        yield f"{place}.coordinates", "needs both x and y, or neither"
    if max(abs(seat.x or 0.0), abs(seat.y or 0.0)) > FURTHEST:
        yield f"{place}.coordinates", "is too far away to be drawn"


def access_problems(place: str, mode: AccessMode, tier: str | None, roles: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with the access settings of a zone, each with its place."""
    if mode is AccessMode.MEMBERSHIP_TIER and not tier:
        yield f"{place}.membership_tier", "give the tier that may book here"
    if mode is AccessMode.ROLE_BASED and not list(roles):
        yield f"{place}.allowed_roles", "give at least one role that may book here"


def _rows(place: str, zone: ZonePlan) -> Iterator[tuple[str, str]]:
    names = Counter((seat.section, seat.row, seat.number) for seat in zone.seats)
    for (_, row, number), count in names.items():
        if count > 1:
            yield f"{place}.seats", f"row {row!r} has {count} seats with the number {number!r}"
    for (_, row), count in Counter((seat.section, seat.row) for seat in zone.seats).items():
        if count > LONGEST_ROW:
            yield f"{place}.seats", f"row {row!r} has more than {LONGEST_ROW} seats"


def _seat_ids(plan: LayoutPlan) -> Iterator[tuple[str, str]]:
    seen: dict[str, str] = {}
    for place, seat in _seats_with_places(plan):
        if seat.seat_id in seen:
            yield f"{place}.seat_id", f"{seat.seat_id!r} is also the id of {seen[seat.seat_id]}"
        seen.setdefault(seat.seat_id, place)


def _seats_with_places(plan: LayoutPlan) -> Iterator[tuple[str, PlannedSeat]]:
    for zone_at, zone in enumerate(plan.zones):
        for at, seat in enumerate(zone.seats):
            yield f"zones[{zone_at}].seats[{at}]", seat


def _companions(plan: LayoutPlan) -> Iterator[tuple[str, str]]:
    seats = {seat.seat_id: seat for seat in plan.seats()}
    zones = {seat.seat_id: zone.name for zone in plan.zones for seat in zone.seats}
    grouped = {seat for group in plan.groups if group.group_type is GroupType.WHEELCHAIR_PAIR for seat in group.seats}
    for place, seat in _seats_with_places(plan):
        if seat.companion_seat_id is not None:
            if problem := _pair_problem(seat, seats.get(seat.companion_seat_id)):
                yield f"{place}.companion_seat_id", problem
            elif zones[seat.seat_id] != zones[seat.companion_seat_id]:
                yield f"{place}.companion_seat_id", "a wheelchair place and its companion seat must be in the same zone"
        elif (
            seat.category is Category.COMPANION
            and seat.seat_id not in grouped
            and not _is_companion_of_a_seat(seat, seats)
        ):
            yield f"{place}.companion_seat_id", "give the wheelchair place of this companion seat"


def _is_companion_of_a_seat(companion: PlannedSeat, seats: dict[str, PlannedSeat]) -> bool:
    return any(seat.companion_seat_id == companion.seat_id for seat in seats.values())


def _pair_problem(seat: PlannedSeat, other: PlannedSeat | None) -> str:
    if other is None:
        return f"there is no seat {seat.companion_seat_id!r} in this layout"
    if {seat.category, other.category} != {Category.WHEELCHAIR, Category.COMPANION}:
        return "must pair a seat of category wheelchair with one of category companion"
    return ""


def _groups(plan: LayoutPlan) -> Iterator[tuple[str, str]]:
    zones = {seat.seat_id: zone.name for zone in plan.zones for seat in zone.seats}
    categories = {seat.seat_id: seat.category for seat in plan.seats()}
    for at, group in enumerate(plan.groups):
        yield from _group(f"groups[{at}].seats", group, zones, categories)


def _group(
    place: str, group: GroupPlan, zones: dict[str, str], categories: dict[str, Category]
) -> Iterator[tuple[str, str]]:
    unknown = [seat for seat in group.seats if seat not in zones]
    for seat in unknown:
        yield place, f"there is no seat {seat!r} in this layout"
    for seat in _duplicates(group.seats):
        yield place, f"names seat {seat!r} twice"
    if not group.seats:
        yield place, "a group needs at least one seat"
    if len({zones[seat] for seat in group.seats if seat in zones}) > 1:
        yield place, "the seats of a group must be in the same zone"
    kinds = [categories[seat] for seat in group.seats if seat in categories]
    if group.group_type is GroupType.WHEELCHAIR_PAIR and not unknown and kinds.count(Category.WHEELCHAIR) != 1:
        yield place, "a wheelchair pair needs exactly one wheelchair place"


def _duplicates(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]
