"""All seats of one version of a layout in compact columns, shared by the events that use it."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from math import dist, inf
from sys import intern
from typing import Final
from uuid import UUID

from msgspec import Struct

from shared.ids import UNKNOWN_ID, as_id, id_text
from sync_server.seating.layout_rows import stable_uuid
from sync_server.seating.layouts.overlay import LayoutZone
from sync_server.seating.layouts.plan import Category, GroupPlan, GroupType
from sync_server.seating.queries import StoredSeat
from sync_server.seating.search.accessibility import Pairing
from sync_server.seating.search.allocation_grid import Point, Points, Row

_CATEGORIES: Final = tuple(Category)
_ID_BYTES: Final = 16


class Seat(Struct, frozen=True):
    """One seat, as people know it."""

    number: int
    id: str
    name: str  # its seat_id: A-12
    zone: int
    section: str
    row: str
    seat_number: str
    category: Category = Category.STANDARD
    price_category: str = ""


@dataclass(frozen=True, slots=True)
class SeatGroup:
    """Seats that belong together, by their numbers."""

    kind: GroupType
    name: str
    zone: int
    seats: tuple[int, ...]
    sold_whole: bool = False


@dataclass(frozen=True, slots=True)
class LayoutSeats:
    """The zones, rows and seats of one version; immutable."""

    layout_id: str
    family_id: str
    zones: tuple[LayoutZone, ...]
    rows: tuple[Row, ...]
    names: tuple[str | tuple[str, ...], ...]  # by row: what all names have before the label of the seat, or every name
    pairings: tuple[Pairing, ...]
    groups: tuple[SeatGroup, ...]
    focus: Point  # what all seats face
    _row_at: array[int]
    _place_at: array[int]
    _ids: bytes
    _by_id: array[int]  # the numbers, sorted by id
    _heads: array[int]  # in the same order, the first half of each id: numbers are compared without a call for each
    _categories: bytes
    _price_categories: tuple[str, ...]
    _price_at: array[int]
    _aisles: bytes

    @classmethod
    def of(
        cls,
        layout_id: str,
        family_id: str,
        zones: Iterable[LayoutZone],
        groups: Sequence[GroupPlan],
        seats: Iterable[StoredSeat],
        *,
        focus: Point = (0.0, 0.0),
    ) -> LayoutSeats:
        """Pack the seats of a layout; they come in the order of their numbers, from 1 without gaps, row by row."""
        grouped_seats = {name: 0 for group in groups for name in group.seats}
        by_number = {zone.number: zone for zone in zones}
        prices: dict[str, int] = {}
        rows: list[Row] = []
        names: list[str | tuple[str, ...]] = []
        ids, categories, aisles, special = bytearray(), bytearray(), bytearray(), list[StoredSeat]()
        row_at, place_at, price_at = array("I"), array("H"), array("H")
        for (zone, _), grouped in groupby(seats, key=lambda seat: (seat.zone_number, seat.row_order)):
            some = list(grouped)
            rows.append(_row(by_number[zone], some))
            names.append(_names(some))
            row_at.extend([len(rows) - 1] * len(some))
            place_at.extend(seat.place for seat in some)
            ids += b"".join(UUID(seat.id).bytes for seat in some)
            categories += bytes(_CATEGORIES.index(Category(seat.category)) for seat in some)
            price_at.extend(prices.setdefault(seat.price_category, len(prices)) for seat in some)
            aisles += bytes(seat.aisle_after for seat in some)
            special += (seat for seat in some if seat.category in {Category.WHEELCHAIR, Category.COMPANION})
            grouped_seats.update((seat.seat_id, seat.number) for seat in some if seat.seat_id in grouped_seats)
        packed = bytes(ids)
        by_id = array("I", sorted(range(1, len(row_at) + 1), key=lambda number: _id_at(packed, number)))
        heads = array("Q", (_head(_id_at(packed, number)) for number in by_id))
        return cls(
            layout_id,
            family_id,
            tuple(by_number.values()),
            _with_distances(rows, focus),
            tuple(names),
            _pairings(special, groups),
            tuple(_groups(groups, grouped_seats, rows, row_at)),
            focus,
            row_at,
            place_at,
            packed,
            by_id,
            heads,
            bytes(categories),
            tuple(prices),
            price_at,
            bytes(aisles),
        )

    def __len__(self) -> int:
        """The number of seats, which is the number of the last one."""
        return len(self._row_at)

    def has(self, number: int) -> bool:
        """Whether there is a seat of this number."""
        return 0 < number <= len(self._row_at)

    def where(self, number: int) -> tuple[Row, int]:
        """The row of a seat, and its place there."""
        return self.rows[self._row_at[number - 1]], self._place_at[number - 1]

    def zone_of(self, number: int) -> int:
        """The number of a seat's zone."""
        return self.rows[self._row_at[number - 1]].zone

    def zones_of_seats(self) -> Iterator[int]:
        """The zone of each seat."""
        return (self.rows[at].zone for at in self._row_at)

    def count_by_zone(self, numbers: Iterable[int]) -> Counter[int]:
        """How many of these seats are in each zone; numbers of no seat do not count."""
        return Counter(self.zone_of(number) for number in numbers if self.has(number))

    def find(self, name: str) -> int | None:
        """The number of a seat by its id or its name."""
        found = self._find_id(_bytes_of(name))
        # An id is derived from the name, so there is no need of a second index.
        return found or self._find_id(stable_uuid(self.family_id, "seat", name).bytes)

    def _find_id(self, id: bytes) -> int | None:
        head = _head(id)
        at = bisect_left(self._heads, head)
        alike = self._by_id[at : bisect_right(self._heads, head, at)]
        return next((number for number in alike if self._id_of(number) == id), None)

    def _id_of(self, number: int) -> bytes:
        return self._ids[_ID_BYTES * (number - 1) : _ID_BYTES * number]

    def find_all(self, names: Iterable[str]) -> dict[str, int]:
        """The numbers of seats by their ids or names; unknown ones are left out."""
        found = ((name, self.find(name)) for name in names)
        return {name: number for name, number in found if number is not None}

    def seat(self, number: int) -> Seat:
        """A seat by its number."""
        row, place = self.where(number)
        id, label, price = id_text(self._id_of(number)), row.names[place], self.price_category(number)
        return Seat(
            number, id, self.name(number), row.zone, row.section, row.label, label, self.category(number), price
        )

    def name(self, number: int) -> str:
        """The name of a seat, as in A-12."""
        row, place = self.where(number)
        names = self.names[self._row_at[number - 1]]
        if isinstance(names, str):
            return names + row.names[place]
        return names[sum(seat is not None for seat in row.seats[:place])]

    def in_words(self, number: int) -> str:
        """A seat as people say it: Stalls, left, row A, seat 5."""
        row, place = self.where(number)
        parts = (row.zone_name, row.section, f"row {row.label}", f"seat {row.names[place]}")
        return ", ".join(part for part in parts if part)

    def names_of(self, numbers: Iterable[int]) -> list[str]:
        """The names of these seats, in order of number; numbers of no seat are left out."""
        return [self.name(number) for number in sorted({*numbers}) if self.has(number)]

    def category(self, number: int) -> Category:
        """What kind of seat it is."""
        return _CATEGORIES[self._categories[number - 1]]

    def price_category(self, number: int) -> str:
        """The price category of a seat; empty if the layout gives none."""
        return self._price_categories[self._price_at[number - 1]]

    @property
    def price_categories(self) -> tuple[str, ...]:
        """All price categories, and the empty one where seats have none."""
        return self._price_categories

    def aisle_after(self, number: int) -> bool:
        """Whether the layout says that the next seat of the row is no neighbour."""
        return bool(self._aisles[number - 1])

    def special(self) -> frozenset[int]:
        """The wheelchair places, and the seats of their companions."""
        return frozenset(seat for each in self.pairings for seat in (each.wheelchair, *each.companions))


def _id_at(ids: bytes, number: int) -> bytes:
    return ids[_ID_BYTES * (number - 1) : _ID_BYTES * number]


def _head(id: bytes) -> int:
    return int.from_bytes(id[: _ID_BYTES // 2], "big")


def _bytes_of(id: str) -> bytes:
    """The bytes of an id; none for what is no id."""
    lower = as_id(id)
    return b"" if lower == UNKNOWN_ID else bytes.fromhex(lower.replace("-", ""))


def _row(zone: LayoutZone, seats: Sequence[StoredSeat]) -> Row:
    first = seats[0]
    by_place = {seat.place: seat for seat in seats}
    filled = [by_place.get(place) for place in range(max(by_place) + 1)]
    # A place without a seat lies where the seat before it does.
    nearest = list(accumulate(filled, lambda before, seat: seat or before, initial=first))[1:]
    numbers: Sequence[int | None] = [None if seat is None else seat.number for seat in filled]
    straight = range(first.number, first.number + len(filled))
    return Row(
        zone.number,
        intern(first.section),
        intern(first.row),
        straight if None not in numbers and tuple(numbers) == tuple(straight) else tuple(numbers),
        Points(array("d", (seat.x for seat in nearest if seat)), array("d", (seat.y for seat in nearest if seat))),
        zone.focus,
        tuple(intern(seat.seat_number) if seat else "" for seat in filled),
        zone.name,
        restricted=sum(1 << seat.place for seat in seats if seat.category == Category.RESTRICTED_VIEW),
        prices=_prices(seats),
    )


def _prices(seats: Iterable[StoredSeat]) -> dict[str, int]:
    found: dict[str, int] = {}
    for seat in seats:
        if seat.price_category:
            found[seat.price_category] = found.get(seat.price_category, 0) | 1 << seat.place
    return found


def _with_distances(rows: Sequence[Row], focus: Point) -> tuple[Row, ...]:
    """The rows, of which those that face something else than all others know how much further from it their zone is."""
    nearest: dict[int, tuple[float, float]] = {}
    for row in rows:
        if row.focus != focus:
            seats = (point for point, seat in zip(row.points, row.seats, strict=True) if seat is not None)
            from_focus, own = nearest.get(row.zone, (inf, inf))
            nearest[row.zone] = min(from_focus, *(dist(point, focus) for point in seats)), min(own, row.min_distance)
    further = {zone: from_focus - own for zone, (from_focus, own) in nearest.items()}
    return tuple(replace(row, further=further[row.zone]) if row.zone in further else row for row in rows)


def _groups(
    groups: Iterable[GroupPlan], numbers: Mapping[str, int], rows: Sequence[Row], row_at: Sequence[int]
) -> Iterator[SeatGroup]:
    for group in groups:
        if group.group_type is not GroupType.WHEELCHAIR_PAIR:
            seats = tuple(sorted(numbers[name] for name in group.seats))
            name, zone = str(group.details.get("name", "")), rows[row_at[seats[0] - 1]].zone
            yield SeatGroup(group.group_type, name, zone, seats, group.sold_whole)


def _names(seats: Sequence[StoredSeat]) -> str | tuple[str, ...]:
    prefix = seats[0].seat_id.removesuffix(seats[0].seat_number)
    common = all(seat.seat_id == prefix + seat.seat_number for seat in seats)
    return prefix if common else tuple(seat.seat_id for seat in seats)


def _pairings(special: Sequence[StoredSeat], groups: Iterable[GroupPlan]) -> tuple[Pairing, ...]:
    """The wheelchair places with their companion seats."""
    numbers = {seat.seat_id: seat.number for seat in special}
    companions: dict[int, set[int]] = {seat.number: set() for seat in special if seat.category == Category.WHEELCHAIR}
    for one, other in _pairs(special, groups):
        place, companion = numbers.get(one), numbers.get(other)
        if place in companions and companion is not None and companion not in companions:
            companions[place].add(companion)
    zone = {seat.number: seat.zone_number for seat in special}
    return tuple(Pairing(place, zone[place], tuple(sorted(some))) for place, some in companions.items())


def _pairs(special: Iterable[StoredSeat], groups: Iterable[GroupPlan]) -> Iterator[tuple[str, str]]:
    for seat in special:
        if seat.companion_seat_id is not None:
            yield seat.seat_id, seat.companion_seat_id
            yield seat.companion_seat_id, seat.seat_id
    for group in groups:
        if group.group_type is GroupType.WHEELCHAIR_PAIR:
            yield from ((one, other) for one in group.seats for other in group.seats)
