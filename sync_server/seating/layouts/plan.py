"""A seating layout as a value: what importers read, exporters write and the tables store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

Point = tuple[float, float]


class ZoneType(StrEnum):
    """How a zone is filled."""

    RESERVED_SEATING = "reserved_seating"
    GA_SEATED = "ga_seated"
    GA_STANDING = "ga_standing"
    VIP_RESERVED = "vip_reserved"
    VIP_STANDING = "vip_standing"

    @property
    def numbered(self) -> bool:
        """Whether every guest has a seat of their own."""
        return self in {ZoneType.RESERVED_SEATING, ZoneType.VIP_RESERVED}

    @property
    def vip(self) -> bool:
        """Whether the organisation must allow VIP zones for it."""
        return self in {ZoneType.VIP_RESERVED, ZoneType.VIP_STANDING}


class AccessMode(StrEnum):
    """Who may book in a zone."""

    PUBLIC = "public"
    MEMBERSHIP_TIER = "membership_tier"
    ROLE_BASED = "role_based"
    WHITELIST = "whitelist"


class Category(StrEnum):
    """What kind of seat it is."""

    STANDARD = "standard"
    WHEELCHAIR = "wheelchair"
    COMPANION = "companion"
    RESTRICTED_VIEW = "restricted_view"
    AISLE = "aisle"


class GroupType(StrEnum):
    """Why a group of seats belongs together."""

    WHEELCHAIR_PAIR = "wheelchair_pair"
    FAMILY_BLOCK = "family_block"
    VIP_TABLE = "vip_table"
    RESERVED_BLOCK = "reserved_block"

    @property
    def offered_whole(self) -> bool:
        """Whether a party that fills it is offered it first, and others get a part of it last."""
        return self in {GroupType.FAMILY_BLOCK, GroupType.VIP_TABLE}


@dataclass(frozen=True, slots=True)
class PlannedSeat:
    """A seat. Its id is stable: the same seat has it in every version of the layout."""

    seat_id: str
    row: str
    number: str
    x: float | None = None  # None: no position is given
    y: float | None = None
    category: Category = Category.STANDARD
    companion_seat_id: str | None = None  # the companion seat of a wheelchair place, and the other way round
    section: str = ""  # rows of one section are one behind the other
    price_category: str = ""
    aisle_after: bool = False  # the next seat of the row is not a neighbour


SAME_FIELDS: Final = ("seat_id", "row", "section", "companion_seat_id", "price_category", "aisle_after")
"""The fields of a seat that have the same name and form in tables and in requests."""


def same_fields(seat: object) -> dict[str, Any]:
    """These fields of a seat, in whatever form it is."""
    return {name: getattr(seat, name) for name in SAME_FIELDS}


@dataclass(frozen=True, slots=True)
class ZonePlan:
    """A zone, with its seats where it has any; the seats of a row are listed from one end to the other."""

    name: str
    zone_type: ZoneType
    capacity: int  # for a numbered zone, the number of its seats
    access_mode: AccessMode = AccessMode.PUBLIC
    membership_tier: str | None = None
    allowed_roles: tuple[str, ...] = ()
    focus: tuple[float, float] | None = None  # what its seats face; None: what the whole plan faces, or its first row
    details: Mapping[str, Any] = field(default_factory=dict)
    seats: tuple[PlannedSeat, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """Seats that belong together."""

    group_type: GroupType
    seats: tuple[str, ...]
    details: Mapping[str, Any] = field(default_factory=dict)
    sold_whole: bool = False  # nobody buys a part of it


@dataclass(frozen=True, slots=True)
class LayoutPlan:
    """A whole layout."""

    name: str
    zones: tuple[ZonePlan, ...]
    description: str = ""
    groups: tuple[GroupPlan, ...] = ()
    drawing: Mapping[str, Any] = field(default_factory=dict)  # stage, bars, colours: only for display
    focus: tuple[float, float] | None = None  # what the whole plan faces; zones may face something else

    @property
    def capacity(self) -> int:
        """Seats and places of all zones."""
        return sum(zone.capacity for zone in self.zones)

    @property
    def zone_types(self) -> list[ZoneType]:
        """The type of each zone."""
        return [zone.zone_type for zone in self.zones]

    def seats(self) -> Iterator[PlannedSeat]:
        """All seats, zone by zone."""
        for zone in self.zones:
            yield from zone.seats
