"""The rules that every layout must meet, whatever its source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from sync_server.plumbing.language.text import as_shown
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
from sync_server.seating.layouts.reading import Places, ReadPlan

MOST_SEATS: Final = 250_000
MOST_PEOPLE: Final = 1_000_000
LONGEST_ROW: Final = 1000
LONGEST: Final = {"seat_id": 80, "row": 20, "number": 20, "section": 60, "price_category": 60}
FURTHEST: Final = 1e7


def check(read: LayoutPlan | ReadPlan) -> LayoutPlan:
    """The plan; InvalidRequest with every mistake and its place, those that its reader found included."""
    draft = read if isinstance(read, ReadPlan) else ReadPlan(read)
    unread = draft.mistakes.places  # what a field should have been is unknown there
    for place, problem in _problems(draft.plan, draft.places):
        if place not in unread:
            draft.mistakes.add(place, problem)
    draft.mistakes.stop()
    return draft.plan


def check_fits_venue(capacity: int, venue_capacity: int) -> None:
    """Raise InvalidRequest for a layout that holds more people than its venue; 0: the venue has no limit."""
    mistakes = Mistakes()
    if venue_capacity and capacity > venue_capacity:
        problem = f"the zones hold {capacity} people in total, but the venue only {venue_capacity}"
        mistakes.add("zones", problem)
    mistakes.stop()


def _problems(plan: LayoutPlan, places: Places) -> Iterator[tuple[str, str]]:
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
    if plan.focus is not None and max(map(abs, plan.focus)) > FURTHEST:
        yield "focus", "is too far away to be drawn"
    for at, zone in enumerate(plan.zones):
        yield from _zone(at, zone, places)
    yield from _seat_ids(plan, places)
    yield from _companions(plan, places)
    yield from _groups(plan)


def _shown(*texts: str) -> bool:
    return all(as_shown(text) == text for text in texts)


def _zone(at: int, zone: ZonePlan, places: Places) -> Iterator[tuple[str, str]]:
    yield from _access(partial(places.zone, at), zone.access_mode, zone.membership_tier, zone.allowed_roles)
    if not 1 <= zone.capacity <= MOST_PEOPLE:
        yield places.zone(at, "capacity"), f"must be 1 to {MOST_PEOPLE}"
    if zone.zone_type.numbered and zone.capacity != len(zone.seats):
        yield places.zone(at, "capacity"), f"is {zone.capacity}, but the zone lists {len(zone.seats)} seats"
    if not zone.zone_type.numbered and zone.seats:
        problem = f"a zone of type {zone.zone_type} has a capacity but no seats of its own"
        yield places.seat(at, 0) if places.seats else places.zone(at, "seats"), problem
    if not 1 <= len(zone.name) <= 100:
        yield places.zone(at, "name"), "must have 1 to 100 characters"
    if len(zone.membership_tier or "") > 40:
        yield places.zone(at, "membership_tier"), "must have at most 40 characters"
    if zone.focus is not None and max(map(abs, zone.focus)) > FURTHEST:
        yield places.zone(at, "focus"), "is too far away to be drawn"
    yield from _rows(at, zone, places)
    for seat_at, seat in enumerate(zone.seats):
        yield from _seat(partial(places.seat, at, seat_at), seat)


def _seat(place: Callable[[str], str], seat: PlannedSeat) -> Iterator[tuple[str, str]]:
    for name, longest in LONGEST.items():
        value: str = getattr(seat, name)
        if len(value) > longest or not value.isprintable():
            yield place(name), f"must have at most {longest} characters, all printable"
        if not value and name in {"seat_id", "row", "number"}:
            yield place(name), "is empty"
    if (seat.x is None) != (seat.y is None):
        yield place("coordinates"), "needs both x and y, or neither"
    if max(abs(seat.x or 0.0), abs(seat.y or 0.0)) > FURTHEST:
        yield place("coordinates"), "is too far away to be drawn"


def access_problems(place: str, mode: AccessMode, tier: str | None, roles: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with the access settings of a zone, each with its place."""
    yield from _access(lambda name: f"{place}.{name}", mode, tier, roles)


def _access(
    place: Callable[[str], str], mode: AccessMode, tier: str | None, roles: Iterable[str]
) -> Iterator[tuple[str, str]]:
    if mode is AccessMode.MEMBERSHIP_TIER and not tier:
        yield place("membership_tier"), "give the tier that may book here"
    if mode is AccessMode.ROLE_BASED and not list(roles):
        yield place("allowed_roles"), "give at least one role that may book here"


def _rows(at: int, zone: ZonePlan, places: Places) -> Iterator[tuple[str, str]]:
    names = Counter((seat.section, seat.row, seat.number) for seat in zone.seats)
    for seat_at, seat in enumerate(zone.seats):
        count = names.pop((seat.section, seat.row, seat.number), 1)
        if count > 1:
            yield (
                places.seat(at, seat_at, "number"),
                f"row {seat.row!r} has {count} seats with the number {seat.number!r}",
            )
    lengths = Counter((seat.section, seat.row) for seat in zone.seats)
    for seat_at, seat in enumerate(zone.seats):
        if lengths.pop((seat.section, seat.row), 0) > LONGEST_ROW:
            yield places.seat(at, seat_at, "row"), f"row {seat.row!r} has more than {LONGEST_ROW} seats"


def _seat_ids(plan: LayoutPlan, places: Places) -> Iterator[tuple[str, str]]:
    seen: dict[str, tuple[int, int]] = {}
    for zone_at, at, seat in _seats_with_places(plan):
        if seat.seat_id in seen:
            problem = f"{seat.seat_id!r} is also the id of {places.seat(*seen[seat.seat_id])}"
            yield places.seat(zone_at, at, "seat_id"), problem
        seen.setdefault(seat.seat_id, (zone_at, at))


def _seats_with_places(plan: LayoutPlan) -> Iterator[tuple[int, int, PlannedSeat]]:
    for zone_at, zone in enumerate(plan.zones):
        for at, seat in enumerate(zone.seats):
            yield zone_at, at, seat


def _companions(plan: LayoutPlan, places: Places) -> Iterator[tuple[str, str]]:
    seats = {seat.seat_id: seat for seat in plan.seats()}
    zones = {seat.seat_id: zone.name for zone in plan.zones for seat in zone.seats}
    grouped = {seat for group in plan.groups if group.group_type is GroupType.WHEELCHAIR_PAIR for seat in group.seats}
    named = {seat.companion_seat_id for seat in plan.seats()}
    for zone_at, at, seat in _seats_with_places(plan):
        place = partial(places.seat, zone_at, at, "companion_seat_id")
        if seat.companion_seat_id is not None:
            if problem := _pair_problem(seat, seats.get(seat.companion_seat_id)):
                yield place(), problem
            elif zones[seat.seat_id] != zones[seat.companion_seat_id]:
                yield place(), "a wheelchair place and its companion seat must be in the same zone"
        elif seat.category is Category.COMPANION and seat.seat_id not in grouped | named:
            yield place(), "give the wheelchair place of this companion seat"


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
    whole = [seat for group in plan.groups if group.sold_whole for seat in group.seats]
    for seat in _duplicates(whole):
        yield "groups", f"seat {seat!r} is in two groups that are sold whole"


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
    if group.sold_whole and {Category.WHEELCHAIR, Category.COMPANION}.intersection(kinds):
        yield place, "wheelchair places and companion seats can be booked alone, so their group cannot be sold whole"


def _duplicates(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]
