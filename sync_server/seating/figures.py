"""The figures that show an organiser how well an event is seated, each with its target and its alert bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sync_server.seating.event_seating import EventSeating
from sync_server.seating.search import bits


@dataclass(frozen=True, slots=True)
class Bounds:
    """The target range of a figure, and the range outside which it raises an alert; in percent."""

    target: tuple[float, float]
    alert: tuple[float, float]
    advice: str  # what to check when the figure is out of bounds


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure; its percentage is None while there is nothing to count."""

    name: str
    percent: float | None
    bounds: Bounds

    @property
    def state(self) -> str:
        """One of unknown, good, off_target and alert."""
        if self.percent is None:
            return "unknown"
        low, high = self.bounds.alert
        if not low <= self.percent <= high:
            return "alert"
        low, high = self.bounds.target
        return "good" if low <= self.percent <= high else "off_target"


BOUNDS: Final[Mapping[str, Bounds]] = {
    "orphan_seats": Bounds(
        (0, 5), (0, 10), "Many single free seats: check how groups are split and which seats are blocked."
    ),
    "vip_use": Bounds((60, 90), (40, 95), "VIP zones are unusually empty or full: check their size and price."),
    "accessibility_use": Bounds(
        (1, 3), (0.01, 5), "No or many wheelchair places are taken: check whether those who need them get them."
    ),
    "hold_to_sale": Bounds(
        (40, 60), (25, 85), "Few or nearly all holds turn into sales: check the checkout and prices."
    ),
    "hold_expiry": Bounds((0, 60), (0, 75), "Many holds expire: check the checkout and how long holds last."),
}


def seating_figures(seating: EventSeating) -> list[Figure]:
    """The figures that follow from the seats themselves."""
    seats = sum(row_state.usable for row_state in seating.grid.rows)
    singles = sum(bits.lone(row_state.open).bit_count() for row_state in seating.grid.rows)
    vip = [number for number, zone in seating.plan.zones.items() if zone.zone_type.vip]
    capacity = sum(seating.plan.zones[number].capacity for number in vip)
    used = sum(seating.live.occupancy(number) * seating.plan.zones[number].capacity / 100 for number in vip)
    taken = seating.taken()
    wheelchairs_taken = len(taken & seating.plan.places.wheelchairs())
    return [
        _figure("orphan_seats", singles, seats),
        _figure("vip_use", used, capacity),
        _figure("accessibility_use", wheelchairs_taken, len(taken) if seating.plan.places.pairings else 0),
    ]


def hold_figures(outcomes: Mapping[str, int]) -> list[Figure]:
    """The figures that follow from how holds ended."""
    ended = sum(outcomes.get(status, 0) for status in ("converted", "expired", "cancelled"))
    return [
        _figure("hold_to_sale", outcomes.get("converted", 0), ended),
        _figure("hold_expiry", outcomes.get("expired", 0), ended),
    ]


def _figure(name: str, part: float, whole: float) -> Figure:
    return Figure(name, 100 * part / whole if whole else None, BOUNDS[name])
