"""The figures by which an organiser sees how well a house is seated, each with its target and its bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sync_server.seating import bits
from sync_server.seating.house import House


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where a figure should lie, and outside what somebody must look; in percent."""

    target: tuple[float, float]
    alert: tuple[float, float]
    words: str  # what to look at then


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure; None where there is nothing yet to be counted."""

    name: str
    percent: float | None
    bounds: Bounds

    @property
    def state(self) -> str:
        """unknown, good, off_target or alert."""
        if self.percent is None:
            return "unknown"
        low, high = self.bounds.alert
        if not low <= self.percent <= high:
            return "alert"
        low, high = self.bounds.target
        return "good" if low <= self.percent <= high else "off_target"


BOUNDS: Final[Mapping[str, Bounds]] = {
    "orphan_seats": Bounds((0, 5), (0, 10), "Single free seats: see how parties are split, and what is blocked."),
    "vip_use": Bounds((60, 90), (40, 95), "VIP zones are unusually empty or full: look at their size and price."),
    "accessibility_use": Bounds(
        (1, 3), (0.01, 5), "No or many wheelchair places are taken: see whether those who need them get them."
    ),
    "hold_to_sale": Bounds((40, 60), (25, 85), "Few or nearly all holds are bought: look at checkout and prices."),
    "hold_expiry": Bounds((0, 60), (0, 75), "Many holds run out: look at the checkout, and at how long holds last."),
}


def of_house(house: House) -> list[Figure]:
    """What the house itself says."""
    seats = sum(standing.usable for standing in house.hall.rows)
    lone = sum(bits.lone(standing.open).bit_count() for standing in house.hall.rows)
    vip = [number for number, zone in house.zones.items() if zone.zone_type.vip]
    capacity = sum(house.zones[number].capacity for number in vip)
    used = sum(house.occupancy(number) * house.zones[number].capacity / 100 for number in vip)
    taken = len(house.gone.seats)
    rolling = len(house.gone.seats & house.places.wheelchairs())
    return [
        _figure("orphan_seats", lone, seats),
        _figure("vip_use", used, capacity),
        _figure("accessibility_use", rolling, taken if house.places.pairings else 0),
    ]


def of_holds(outcomes: Mapping[str, int]) -> list[Figure]:
    """What became of holds that ended."""
    ended = sum(outcomes.get(status, 0) for status in ("converted", "expired", "cancelled"))
    return [
        _figure("hold_to_sale", outcomes.get("converted", 0), ended),
        _figure("hold_expiry", outcomes.get("expired", 0), ended),
    ]


def _figure(name: str, part: float, whole: float) -> Figure:
    return Figure(name, 100 * part / whole if whole else None, BOUNDS[name])
