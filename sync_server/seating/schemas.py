"""Request and response schemas for layouts and the seating policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, model_validator

from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.json_limits import FreeJson
from sync_server.plumbing.api.one_line import SEVERAL_LINES
from sync_server.plumbing.api.schemas import Id, IsoTime, Name, PatchBody, Query, RequestBody, View
from sync_server.plumbing.requests.addresses import canonical_network
from sync_server.seating.layouts.plan import (
    AccessMode,
    Category,
    GroupPlan,
    GroupType,
    LayoutPlan,
    PlannedSeat,
    ZonePlan,
    ZoneType,
    same_fields,
)
from sync_server.seating.layouts.reading import ReadPlan

ZoneTypeName = Literal["reserved_seating", "ga_seated", "ga_standing", "vip_reserved", "vip_standing"]
AccessModeName = Literal["public", "membership_tier", "role_based", "whitelist"]
CategoryName = Literal["standard", "wheelchair", "companion", "restricted_view", "aisle"]
GroupTypeName = Literal["wheelchair_pair", "family_block", "vip_table", "reserved_block"]
FormatName = Literal["gatehouse", "pretix", "csv", "svg"]

SeatId = Annotated[str, Field(min_length=1, max_length=80)]
Short = Annotated[str, Field(max_length=60)]
Role = Annotated[str, Field(min_length=1, max_length=40)]
Tier = Annotated[str, Field(min_length=1, max_length=40)]
People = Annotated[int, Field(ge=1, le=1_000_000)]
SeatNumber = Annotated[str, StringConstraints(min_length=1, max_length=20)]
Coordinate = Annotated[float, Field(ge=-1e7, le=1e7, allow_inf_nan=False)]


class Coordinates(RequestBody):
    """A position in the units of the drawing."""

    x: Coordinate
    y: Coordinate


class SeatShape(RequestBody):
    """A seat; without a seat_id it is named after its zone, section, row and number."""

    seat_id: SeatId | None = None
    row: SeatNumber
    number: SeatNumber | Annotated[int, Field(ge=0, le=1_000_000)]
    coordinates: Coordinates | None = None
    category: CategoryName = "standard"
    companion_seat_id: SeatId | None = None
    section: Short = ""
    price_category: Short = ""
    aisle_after: bool = False

    def plan(self, zone: str) -> PlannedSeat:
        number = str(self.number)
        parts = [part for part in (zone, self.section, self.row, number) if part]
        position = self.coordinates
        x, y = (position.x, position.y) if position else (None, None)
        fields = same_fields(self) | {"seat_id": self.seat_id or "-".join(parts)}
        return PlannedSeat(**fields, number=number, x=x, y=y, category=Category(self.category))


class ZoneShape(RequestBody):
    """A zone. Reserved seating zones list their seats; other zones state their capacity."""

    name: Name
    zone_type: ZoneTypeName
    capacity: People | None = None
    access_mode: AccessModeName = "public"
    membership_tier: Tier | None = None
    allowed_roles: Annotated[list[Role], Field(max_length=50)] = Field(default_factory=list)
    focus: Coordinates | None = None
    metadata: FreeJson = Field(default_factory=dict)
    seats: Annotated[list[SeatShape], Field(max_length=250_000)] = Field(default_factory=list)

    def plan(self) -> ZonePlan:
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


class GroupShape(RequestBody):
    """Seats that belong together."""

    group_type: GroupTypeName
    seat_ids: Annotated[list[SeatId], Field(max_length=1000)]
    metadata: FreeJson = Field(default_factory=dict)
    sold_whole: bool = False  # nobody buys a part of it

    def plan(self) -> GroupPlan:
        return GroupPlan(GroupType(self.group_type), tuple(self.seat_ids), self.metadata, self.sold_whole)


class LayoutShape(RequestBody):
    """A whole layout. Seats of a row are neighbours unless an aisle, or a wide gap in the drawing, separates them."""

    name: Name
    description: Annotated[str, Field(max_length=2000), SEVERAL_LINES] = ""
    zones: Annotated[list[ZoneShape], Field(min_length=1, max_length=1000)]
    groups: Annotated[list[GroupShape], Field(max_length=20_000)] = Field(default_factory=list)
    drawing: FreeJson = Field(default_factory=dict)
    focus: Coordinates | None = None  # what the whole plan faces: the middle of the stage

    def plan(self) -> LayoutPlan:
        groups = tuple(group.plan() for group in self.groups)
        zones = tuple(zone.plan() for zone in self.zones)
        faces = (self.focus.x, self.focus.y) if self.focus else None
        return LayoutPlan(self.name, zones, self.description, groups, self.drawing, faces)


def layout_json(plan: LayoutPlan) -> dict[str, Any]:
    """A layout in the form of LayoutShape as plain JSON; stored layouts are valid, and stadiums slow to validate."""
    return {
        "name": plan.name,
        "description": plan.description,
        "zones": [_zone_json(zone) for zone in plan.zones],
        "groups": [
            {
                "group_type": group.group_type.value,
                "seat_ids": list(group.seats),
                "metadata": dict(group.details),
                "sold_whole": group.sold_whole,
            }
            for group in plan.groups
        ],
        "drawing": dict(plan.drawing),
        "focus": _coordinates(*plan.focus) if plan.focus else None,
    }


def _zone_json(zone: ZonePlan) -> dict[str, Any]:
    return {
        "name": zone.name,
        "zone_type": zone.zone_type.value,
        "capacity": zone.capacity,
        "access_mode": zone.access_mode.value,
        "membership_tier": zone.membership_tier,
        "allowed_roles": list(zone.allowed_roles),
        "focus": _coordinates(*zone.focus) if zone.focus else None,
        "metadata": dict(zone.details),
        "seats": [_seat_json(seat) for seat in zone.seats],
    }


def _seat_json(seat: PlannedSeat) -> dict[str, Any]:
    coordinates = _coordinates(seat.x, seat.y)
    return same_fields(seat) | {"number": seat.number, "coordinates": coordinates, "category": seat.category.value}


def _coordinates(x: float | None, y: float | None) -> dict[str, float] | None:
    return None if x is None or y is None else {"x": x, "y": y}


class LayoutZoneView(View):
    """A zone of a layout, without its seats."""

    id: str
    number: int
    name: str
    zone_type: ZoneTypeName
    capacity: int
    access_mode: AccessModeName
    membership_tier: str | None
    allowed_roles: Sequence[str]


class LayoutView(EditedView):
    """One version of a layout."""

    unedited = frozenset({"layout"})  # the time of the last edit stands for it

    id: str
    family_id: str
    venue_id: str
    version: int
    name: str
    description: str
    status: Literal["draft", "active", "archived"]
    total_capacity: int
    focus: Sequence[float]  # what the plan faces: given, or the middle of its first row
    zones: list[LayoutZoneView]
    created_at: IsoTime
    updated_at: IsoTime


class WholeLayoutView(LayoutView):
    """One version of a layout with its seats, in the form in which layouts are uploaded."""

    layout: LayoutShape


class SeatColumnsView(View):
    """Seats as columns, in the order of the layout: a value for each seat, or the places of the few that have one."""

    count: int
    kinds: list[CategoryName]
    texts: list[str]
    zones: list[tuple[int, int]]
    section: list[int]
    row: list[int]
    number: list[int]
    price: list[int]
    kind: list[int]
    x: list[float]
    y: list[float]
    undrawn: list[int]
    aisles: list[int]
    named: list[int]
    names: list[str]
    companions: list[tuple[int, int]]
    groups: list[list[int]]


class LayoutColumnsView(LayoutView):
    """One version of a layout, its zones and groups without seats, and all seats as columns."""

    unedited = frozenset({"layout", "seats"})

    layout: LayoutShape
    seats: SeatColumnsView


class LayoutsView(BaseModel):
    """A page of layouts."""

    items: list[LayoutView]
    next: str | None


class ImportQuery(Query):
    """How to read a file; CSV and SVG files do not contain the name of the layout."""

    format: FormatName
    name: Name = "Seating plan"
    layout_id: Id | None = None  # make a new version of this one
    focus_x: Coordinate | None = None  # what the whole plan faces, whatever the file says
    focus_y: Coordinate | None = None

    @model_validator(mode="after")
    def _both_or_neither(self) -> Self:
        if (self.focus_x is None) != (self.focus_y is None):
            raise ValueError("a focus needs both focus_x and focus_y")
        return self

    def placed(self, read: ReadPlan) -> ReadPlan:
        """What was read, with the focus of this query if it gives one."""
        if self.focus_x is None or self.focus_y is None:
            return read
        return replace(read, plan=replace(read.plan, focus=(self.focus_x, self.focus_y)))


class ExportQuery(Query):
    """How to write a file."""

    format: FormatName = "gatehouse"


Percent = Annotated[int, Field(ge=0, le=100)]
Minutes = Annotated[int, Field(ge=1, le=60)]
Count = Annotated[int, Field(ge=1, le=1000)]
GroupSize = Annotated[int, Field(ge=1, le=100)]


Network = Annotated[str, AfterValidator(canonical_network)]


class SeatingOverrides(PatchBody):
    """The parts of the seating policy that an event overrides."""

    clearable = frozenset({"max_holds_per_user", "max_holds_per_ip", "max_holds_per_membership"})

    enforce_accessibility_rules: bool | None = None
    companion_release_occupancy_threshold: Percent | None = None
    max_wheelchair_seats_per_booking: Count | None = None
    companion_price_category: Short | None = None
    accessibility_audit_enabled: bool | None = None
    max_seats_per_booking: GroupSize | None = None
    orphan_avoidance_strict: bool | None = None
    group_adjacency_strict: bool | None = None
    max_group_split: Annotated[int, Field(ge=0, le=20)] | None = None
    prefer_clustering_over_selection: bool | None = None
    default_hold_ttl_minutes: Minutes | None = None
    max_holds_per_user: Count | None = None
    max_holds_per_ip: Count | None = None
    max_holds_per_membership: Count | None = None


PolicyField = Literal[
    "enforce_accessibility_rules",
    "companion_release_occupancy_threshold",
    "max_wheelchair_seats_per_booking",
    "companion_price_category",
    "accessibility_audit_enabled",
    "max_seats_per_booking",
    "orphan_avoidance_strict",
    "group_adjacency_strict",
    "max_group_split",
    "prefer_clustering_over_selection",
    "default_hold_ttl_minutes",
    "max_holds_per_user",
    "max_holds_per_ip",
    "max_holds_per_membership",
]


class ChangePolicy(SeatingOverrides):
    """Changes to the organisation's seating policy."""

    allow_reserved_seating: bool | None = None
    allow_ga_seating: bool | None = None
    allow_hybrid_ga_reserved: bool | None = None
    allow_vip_zones: bool | None = None
    exempt_networks: Annotated[list[Network], Field(max_length=200)] | None = None
    mandatory: Annotated[list[PolicyField], Field(max_length=20)] | None = None


class PolicyView(EditedView):
    """The organisation's seating policy."""

    allow_reserved_seating: bool
    allow_ga_seating: bool
    allow_hybrid_ga_reserved: bool
    allow_vip_zones: bool
    enforce_accessibility_rules: bool
    companion_release_occupancy_threshold: int
    max_wheelchair_seats_per_booking: int
    companion_price_category: str
    accessibility_audit_enabled: bool
    max_seats_per_booking: int
    orphan_avoidance_strict: bool
    group_adjacency_strict: bool
    max_group_split: int
    prefer_clustering_over_selection: bool
    default_hold_ttl_minutes: int
    max_holds_per_user: int | None
    max_holds_per_ip: int | None
    max_holds_per_membership: int | None
    exempt_networks: Sequence[str]
    mandatory: list[str]
