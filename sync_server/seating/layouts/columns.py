"""A layout with its seats as columns, a seventh of what they are as objects: for programs that draw sixty thousand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from sync_server.seating.layouts.plan import Category

KINDS: Final = tuple(category.value for category in Category)
_NUMBER: Final = {kind: number for number, kind in enumerate(KINDS)}


class Seat(NamedTuple):
    """A seat as a layout lists it; without coordinates where the layout draws none."""

    zone: int  # its place among the zones
    seat_id: str
    section: str
    row: str
    number: str
    x: float | None
    y: float | None
    category: str
    companion_seat_id: str | None
    price_category: str
    aisle_after: bool


@dataclass(slots=True)
class _Columns:
    """One value for each seat, or for the few that have one; texts are named by their place among `texts`."""

    texts: dict[str, int] = field(default_factory=lambda: {"": 0})
    zones: list[list[int]] = field(default_factory=list)  # runs of [zone, seats]
    section: list[int] = field(default_factory=list)
    row: list[int] = field(default_factory=list)
    number: list[int] = field(default_factory=list)
    price: list[int] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    x: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    undrawn: list[int] = field(default_factory=list)
    aisles: list[int] = field(default_factory=list)
    named: list[int] = field(default_factory=list)  # seats that are not called after their labels, and their names
    names: list[str] = field(default_factory=list)

    def text(self, text: str) -> int:
        """The place of a text."""
        return self.texts.setdefault(text, len(self.texts))

    def add(self, at: int, seat: Seat, zone_name: str) -> None:
        """Add a seat."""
        if self.zones and self.zones[-1][0] == seat.zone:
            self.zones[-1][1] += 1
        else:
            self.zones.append([seat.zone, 1])
        for column, text in (
            (self.section, seat.section),
            (self.row, seat.row),
            (self.number, seat.number),
            (self.price, seat.price_category),
        ):
            column.append(self.text(text))
        self.kind.append(_NUMBER[seat.category])
        drawn = seat.x is not None and seat.y is not None
        self.x.append(seat.x if drawn and seat.x is not None else 0)
        self.y.append(seat.y if drawn and seat.y is not None else 0)
        if not drawn:
            self.undrawn.append(at)
        if seat.aisle_after:
            self.aisles.append(at)
        if seat.seat_id != "-".join(filter(None, (zone_name, seat.section, seat.row, seat.number))):
            self.named.append(at)
            self.names.append(seat.seat_id)


def columns_of(zone_names: Sequence[str], seats: Iterable[Seat], groups: Iterable[Sequence[str]]) -> dict[str, Any]:
    """The seats, and at which places those of each group are; docs/seating.md says what each column is."""
    columns = _Columns()
    places: dict[str, int] = {}
    companions: list[tuple[int, str]] = []
    for at, seat in enumerate(seats):
        columns.add(at, seat, zone_names[seat.zone])
        if seat.companion_seat_id:
            companions.append((at, seat.companion_seat_id))
        places[seat.seat_id] = at
    return {
        "count": len(columns.x),
        "kinds": KINDS,
        "texts": list(columns.texts),
        "zones": columns.zones,
        "section": columns.section,
        "row": columns.row,
        "number": columns.number,
        "price": columns.price,
        "kind": columns.kind,
        "x": columns.x,
        "y": columns.y,
        "undrawn": columns.undrawn,
        "aisles": columns.aisles,
        "named": columns.named,
        "names": columns.names,
        "companions": [[at, places[id]] for at, id in companions],
        "groups": [[places[id] for id in group] for group in groups],
    }
