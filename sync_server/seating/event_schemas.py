"""Request and response schemas for the layout of an event and its seats."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BaseModel, Field

from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.one_line import SEVERAL_LINES
from sync_server.plumbing.api.schemas import Dates, Id, IsoTime, RequestBody, WholeList
from sync_server.seating.event_layouts import LayoutChoice
from sync_server.seating.models import EventLayoutRecord
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.schemas import (
    AccessModeName,
    GroupSize,
    LayoutZoneView,
    People,
    PolicyView,
    Role,
    SeatId,
    SeatingOverrides,
    Short,
    Tier,
    ZoneTypeName,
)
from sync_server.seating.search.offers import Cluster, Offer


class ZoneOverride(RequestBody):
    """What this event changes about a zone."""

    zone_type: ZoneTypeName | None = None
    access_mode: AccessModeName | None = None
    membership_tier: Tier | None = None
    allowed_roles: Annotated[list[Role], Field(max_length=50)] | None = None
    capacity: People | None = None


class PriceZone(RequestBody):
    """What is sold in a zone."""

    pricing_rule_id: Short | None = None
    ticket_types: Annotated[list[Annotated[int, Field(ge=1)]], Field(max_length=100)] = Field(default_factory=list)


class Overrides(RequestBody):
    """What the event changes about the layout; zones by id, seats by id or seat_id."""

    blocked_seat_ids: Annotated[list[SeatId], Field(max_length=250_000)] = Field(default_factory=list)
    disabled_zones: Annotated[list[Id], Field(max_length=1000)] = Field(default_factory=list)
    zone_overrides: Annotated[dict[Id, ZoneOverride], Field(max_length=1000)] = Field(default_factory=dict)
    pricing_zones: Annotated[dict[Id, PriceZone], Field(max_length=1000)] = Field(default_factory=dict)


class ChooseLayout(RequestBody):
    """The layout version that an event uses, with its overrides. Replaces the previous choice."""

    layout_id: Id
    layout_version: Annotated[int, Field(ge=1)] | None = None
    overrides: Overrides = Field(default_factory=Overrides)
    seating_overrides: SeatingOverrides = Field(default_factory=SeatingOverrides)

    def chosen(self) -> LayoutChoice:
        """The choice as the service takes it."""
        overrides = self.overrides
        return LayoutChoice(
            layout_id=self.layout_id,
            layout_version=self.layout_version,
            blocked_seats=tuple(overrides.blocked_seat_ids),
            disabled_zones=tuple(overrides.disabled_zones),
            zone_overrides={id: _given(changed) for id, changed in overrides.zone_overrides.items()},
            price_zones={id: _given(price) for id, price in overrides.pricing_zones.items()},
            seating_overrides=self.seating_overrides.changes(),
        )


def _given(schema: BaseModel) -> dict[str, Any]:
    return schema.model_dump(exclude_unset=True, exclude_none=True)


class EventZoneView(LayoutZoneView):
    """A zone at the event; `event_zone` is its number for gates and tickets."""

    event_zone: int | None
    price: dict[str, Any]


class EventLayoutView(EditedView):
    """The layout of an event with its overrides."""

    unedited = frozenset({"frozen"})

    event_id: str
    layout_id: str
    layout_version: int
    revision: int
    capacity: int
    frozen: bool
    zones: list[EventZoneView]
    blocked_seat_ids: list[str]
    disabled_zones: list[str]
    policy: PolicyView
    seating_overrides: dict[str, Any]
    updated_at: IsoTime


def event_layout_view(
    row: EventLayoutRecord,
    plan: SeatPlan,
    *,
    frozen: bool,
) -> EventLayoutView:
    """The layout of an event as organisers see it."""
    return EventLayoutView.of(
        row,
        capacity=plan.capacity,
        frozen=frozen,
        zones=[EventZoneView.of(zone, event_zone=plan.event_zones.get(zone.number)) for zone in plan.zones.values()],
        blocked_seat_ids=plan.layout.names_of(plan.blocked),
        disabled_zones=[zone.id for zone in plan.layout.zones if zone.number in plan.deltas.disabled],
        policy=plan.policy,
    )


class OnDays(RequestBody):
    """Seats that are free on some days of the event, by their dates; without them, on all of them."""

    days: Dates | None = None


class WantedSeats(OnDays):
    """A group asking for the best seats left; `size` includes wheelchair users and their companions."""

    size: GroupSize
    zones: Annotated[list[Id], Field(max_length=1000)] | None = None
    apart: bool = False
    wheelchairs: Annotated[int, Field(ge=0, le=100)] = 0
    price_category: Short | None = None  # without wheelchairs
    override: bool = False  # box office: ignore single seats, reserved seats and the group limit


class PickedSeats(OnDays):
    """Seats that a customer picked."""

    seat_ids: Annotated[list[SeatId], Field(min_length=1, max_length=1000)]
    apart: bool = False
    override: bool = False


class ReleaseStranded(RequestBody):
    """Which stranded seats to release (without seat_ids, all), and why."""

    seat_ids: Annotated[list[SeatId], Field(min_length=1, max_length=1000)] | None = None
    reason: Annotated[str, Field(min_length=1, max_length=500), SEVERAL_LINES]


class StrandedSeatView(BaseModel):
    """A single seat that nobody has; `held_back` says what keeps the public from it, null if nothing does."""

    seat_id: str
    words: str
    held_back: str | None


class StrandedSeatsView(WholeList):
    """Single seats that nobody has."""

    items: list[StrandedSeatView]


class ClusterView(BaseModel):
    """Neighbouring seats in one row."""

    zone: str
    row: str
    seat_ids: list[str]


class OfferView(BaseModel):
    """Seats for a group. Nothing is held."""

    grade: str
    words: str
    orphans: int
    clusters: list[ClusterView]
    companion_seats_kept: list[str]
    restricted_view: list[str]  # those of the seats whose view is restricted


def offer_view(offer: Offer, names: dict[int, str], companions: Iterable[int]) -> OfferView:
    """The offer as a response; `companions` are the companion seats reserved with it."""
    return OfferView(
        grade=offer.grade.value,
        words=offer.description,
        orphans=offer.orphans,
        clusters=[_cluster(cluster, names) for cluster in offer.clusters],
        companion_seats_kept=[names[seat] for seat in companions],
        restricted_view=[names[seat] for cluster in offer.clusters for seat in cluster.restricted_seats],
    )


def _cluster(cluster: Cluster, names: dict[int, str]) -> ClusterView:
    row = cluster.row_state.row
    return ClusterView(zone=row.zone_name, row=row.label, seat_ids=[names[seat] for seat in cluster.seats])
