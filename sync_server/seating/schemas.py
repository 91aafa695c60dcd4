"""Shapes of requests and answers about layouts and the seating policy."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints

from sync_server.plumbing.bodies import Free
from sync_server.plumbing.shapes import Asked, Changed, Name, Query, iso
from sync_server.seating.models import LayoutRecord
from sync_server.seating.overlay import LayoutZone
from sync_server.seating.plan import (
    AccessMode,
    Category,
    GroupPlan,
    GroupType,
    LayoutPlan,
    SeatPlan,
    ZonePlan,
    ZoneType,
)
from sync_server.seating.rules import Policy

ZoneTypeWord = Literal["reserved_seating", "ga_seated", "ga_standing", "vip_reserved", "vip_standing"]
AccessWord = Literal["public", "membership_tier", "role_based", "whitelist"]
CategoryWord = Literal["standard", "wheelchair", "companion", "restricted_view", "aisle"]
GroupWord = Literal["wheelchair_pair", "family_block", "vip_table", "reserved_block"]
FormatWord = Literal["gatehouse", "pretix", "csv", "svg"]

SeatId = Annotated[str, Field(min_length=1, max_length=80)]
Short = Annotated[str, Field(max_length=60)]
Role = Annotated[str, Field(min_length=1, max_length=40)]
Tier = Annotated[str, Field(min_length=1, max_length=40)]
People = Annotated[int, Field(ge=1, le=1_000_000)]
SeatNumber = Annotated[str, StringConstraints(min_length=1, max_length=20)]
Far = Annotated[float, Field(ge=-1e7, le=1e7, allow_inf_nan=False)]


class Coordinates(Asked):
    """Where something stands, in the units of the drawing."""

    x: Far
    y: Far


class SeatShape(Asked):
    """A seat; without an id it is called after its zone, section, row and number."""

    seat_id: SeatId | None = None
    row: SeatNumber
    number: SeatNumber | Annotated[int, Field(ge=0, le=1_000_000)]
    coordinates: Coordinates | None = None
    category: CategoryWord = "standard"
    companion_seat_id: SeatId | None = None
    section: Short = ""
    price_category: Short = ""
    aisle_after: bool = False

    def plan(self, zone: str) -> SeatPlan:
        """As a value."""
        number = str(self.number)
        parts = [part for part in (zone, self.section, self.row, number) if part]
        at = self.coordinates
        return SeatPlan(
            seat_id=self.seat_id or "-".join(parts),
            row=self.row,
            number=number,
            x=at.x if at else None,
            y=at.y if at else None,
            category=Category(self.category),
            companion_seat_id=self.companion_seat_id,
            section=self.section,
            price_category=self.price_category,
            aisle_after=self.aisle_after,
        )


class ZoneShape(Asked):
    """A zone. Zones with reserved seats list them; the others say how many people they hold."""

    name: Name
    zone_type: ZoneTypeWord
    capacity: People | None = None
    access_mode: AccessWord = "public"
    membership_tier: Tier | None = None
    allowed_roles: Annotated[list[Role], Field(max_length=50)] = Field(default_factory=list)
    focus: Coordinates | None = None
    metadata: Free = Field(default_factory=dict)
    seats: Annotated[list[SeatShape], Field(max_length=250_000)] = Field(default_factory=list)

    def plan(self) -> ZonePlan:
        """As a value."""
        return ZonePlan(
            name=self.name,
            zone_type=ZoneType(self.zone_type),
            capacity=len(self.seats) if self.capacity is None else self.capacity,
            access_mode=AccessMode(self.access_mode),
            membership_tier=self.membership_tier,
            allowed_roles=tuple(self.allowed_roles),
            focus=(self.focus.x, self.focus.y) if self.focus else None,
            details=self.metadata,
            seats=tuple(seat.plan(self.name) for seat in self.seats),
        )


class GroupShape(Asked):
    """Seats that belong together."""

    group_type: GroupWord
    seat_ids: Annotated[list[SeatId], Field(max_length=1000)]
    metadata: Free = Field(default_factory=dict)

    def plan(self) -> GroupPlan:
        """As a value."""
        return GroupPlan(GroupType(self.group_type), tuple(self.seat_ids), self.metadata)


class LayoutShape(Asked):
    """A whole layout. The seats of a row are neighbours unless an aisle, or a wide gap in the drawing, parts them."""

    name: Name
    description: Annotated[str, Field(max_length=2000)] = ""
    zones: Annotated[list[ZoneShape], Field(min_length=1, max_length=1000)]
    groups: Annotated[list[GroupShape], Field(max_length=20_000)] = Field(default_factory=list)
    drawing: Free = Field(default_factory=dict)

    def plan(self) -> LayoutPlan:
        """As a value."""
        groups = tuple(group.plan() for group in self.groups)
        zones = tuple(zone.plan() for zone in self.zones)
        return LayoutPlan(self.name, zones, self.description, groups, self.drawing)


def layout_words(plan: LayoutPlan) -> dict[str, Any]:
    """A layout in the form of LayoutShape, as plain JSON: stadiums are large, and what is kept was checked before."""
    return {
        "name": plan.name,
        "description": plan.description,
        "zones": [_zone_words(zone) for zone in plan.zones],
        "groups": [
            {"group_type": group.group_type.value, "seat_ids": list(group.seats), "metadata": dict(group.details)}
            for group in plan.groups
        ],
        "drawing": dict(plan.drawing),
    }


def _zone_words(zone: ZonePlan) -> dict[str, Any]:
    return {
        "name": zone.name,
        "zone_type": zone.zone_type.value,
        "capacity": zone.capacity,
        "access_mode": zone.access_mode.value,
        "membership_tier": zone.membership_tier,
        "allowed_roles": list(zone.allowed_roles),
        "focus": _coordinates(*zone.focus) if zone.focus else None,
        "metadata": dict(zone.details),
        "seats": [_seat_words(seat) for seat in zone.seats],
    }


def _seat_words(seat: SeatPlan) -> dict[str, Any]:
    return {
        "seat_id": seat.seat_id,
        "row": seat.row,
        "number": seat.number,
        "coordinates": _coordinates(seat.x, seat.y),
        "category": seat.category.value,
        "companion_seat_id": seat.companion_seat_id,
        "section": seat.section,
        "price_category": seat.price_category,
        "aisle_after": seat.aisle_after,
    }


def _coordinates(x: float | None, y: float | None) -> dict[str, float] | None:
    return None if x is None or y is None else {"x": x, "y": y}


class LayoutZoneView(BaseModel):
    """A zone of a layout, without its seats."""

    id: str
    number: int
    name: str
    zone_type: ZoneTypeWord
    capacity: int
    access_mode: AccessWord
    membership_tier: str | None
    allowed_roles: list[str]

    @classmethod
    def of(cls, zone: LayoutZone) -> LayoutZoneView:
        """As organisers see it."""
        return cls(
            id=zone.id,
            number=zone.number,
            name=zone.name,
            zone_type=zone.zone_type.value,
            capacity=zone.capacity,
            access_mode=zone.access_mode.value,
            membership_tier=zone.membership_tier,
            allowed_roles=list(zone.allowed_roles),
        )


class LayoutView(BaseModel):
    """One version of a layout."""

    id: str
    family_id: str
    venue_id: str
    version: int
    name: str
    description: str
    status: Literal["draft", "active", "archived"]
    total_capacity: int
    zones: list[LayoutZoneView]
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, row: LayoutRecord, zones: list[LayoutZone]) -> LayoutView:
        """As organisers see it."""
        return cls(**head(row), zones=[LayoutZoneView.of(zone) for zone in zones])


def head(row: LayoutRecord) -> dict[str, Any]:
    """What is said of a layout besides its zones."""
    plain = {name: getattr(row, name) for name in _PLAIN}
    return plain | {"created_at": iso(row.created_at), "updated_at": iso(row.updated_at)}


_PLAIN = tuple(name for name in LayoutView.model_fields if name not in {"zones", "created_at", "updated_at"})


class WholeLayoutView(LayoutView):
    """One version of a layout with its seats, in the form in which layouts are sent."""

    layout: LayoutShape


class LayoutsView(BaseModel):
    """A page of layouts."""

    items: list[LayoutView]
    next: str | None


class ImportQuery(Query):
    """How to read a file; a CSV file or drawing does not say what the layout is called."""

    format: FormatWord
    name: Name = "Seating plan"
    layout_id: Annotated[str, Field(max_length=36)] | None = None  # make a new version of this one


class ExportQuery(Query):
    """How to write a file."""

    format: FormatWord = "gatehouse"


Percent = Annotated[int, Field(ge=0, le=100)]
Minutes = Annotated[int, Field(ge=1, le=60)]
Count = Annotated[int, Field(ge=1, le=1000)]
Party = Annotated[int, Field(ge=1, le=100)]


class SeatingOverrides(Changed):
    """What an event decides for itself."""

    clearable = frozenset({"max_holds_per_user", "max_holds_per_ip"})

    enforce_accessibility_rules: bool | None = None
    companion_release_occupancy_threshold: Percent | None = None
    max_wheelchair_seats_per_booking: Count | None = None
    accessibility_audit_enabled: bool | None = None
    max_seats_per_booking: Party | None = None
    orphan_avoidance_strict: bool | None = None
    group_adjacency_strict: bool | None = None
    max_group_split: Annotated[int, Field(ge=0, le=20)] | None = None
    prefer_clustering_over_selection: bool | None = None
    default_hold_ttl_minutes: Minutes | None = None
    max_holds_per_user: Count | None = None
    max_holds_per_ip: Count | None = None


PolicyField = Literal[
    "enforce_accessibility_rules",
    "companion_release_occupancy_threshold",
    "max_wheelchair_seats_per_booking",
    "accessibility_audit_enabled",
    "max_seats_per_booking",
    "orphan_avoidance_strict",
    "group_adjacency_strict",
    "max_group_split",
    "prefer_clustering_over_selection",
    "default_hold_ttl_minutes",
    "max_holds_per_user",
    "max_holds_per_ip",
]


class ChangePolicy(SeatingOverrides):
    """What shall change about the organisation's policy."""

    allow_reserved_seating: bool | None = None
    allow_ga_seating: bool | None = None
    allow_hybrid_ga_reserved: bool | None = None
    allow_vip_zones: bool | None = None
    mandatory: Annotated[list[PolicyField], Field(max_length=20)] | None = None


class PolicyView(BaseModel):
    """The organisation's seating policy."""

    allow_reserved_seating: bool
    allow_ga_seating: bool
    allow_hybrid_ga_reserved: bool
    allow_vip_zones: bool
    enforce_accessibility_rules: bool
    companion_release_occupancy_threshold: int
    max_wheelchair_seats_per_booking: int
    accessibility_audit_enabled: bool
    max_seats_per_booking: int
    orphan_avoidance_strict: bool
    group_adjacency_strict: bool
    max_group_split: int
    prefer_clustering_over_selection: bool
    default_hold_ttl_minutes: int
    max_holds_per_user: int | None
    max_holds_per_ip: int | None
    mandatory: list[str]

    @classmethod
    def of(cls, policy: Policy) -> PolicyView:
        """As organisers see it."""
        plain = {name: getattr(policy, name) for name in cls.model_fields if name != "mandatory"}
        return cls(**plain, mandatory=list(policy.mandatory))
