"""Shapes of requests and answers about an event's own layout and its seats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field

from sync_server.plumbing.shapes import Asked, iso
from sync_server.seating.event_layouts import Chosen
from sync_server.seating.models import EventLayoutRecord
from sync_server.seating.offers import Cluster, Offer
from sync_server.seating.overlay import EventZone
from sync_server.seating.rules import Policy
from sync_server.seating.schemas import (
    AccessWord,
    Party,
    People,
    PolicyView,
    Role,
    SeatId,
    SeatingOverrides,
    Short,
    Tier,
    ZoneTypeWord,
)

Id = Annotated[str, Field(min_length=1, max_length=36)]


class ZoneOverride(Asked):
    """How a zone is used otherwise at this event."""

    zone_type: ZoneTypeWord | None = None
    access_mode: AccessWord | None = None
    membership_tier: Tier | None = None
    allowed_roles: Annotated[list[Role], Field(max_length=50)] | None = None
    capacity: People | None = None


class PriceZone(Asked):
    """What is sold in a zone."""

    pricing_rule_id: Short | None = None
    ticket_types: Annotated[list[Annotated[int, Field(ge=1)]], Field(max_length=100)] = Field(default_factory=list)


class Overrides(Asked):
    """What the event changes about the layout; zones by their ids, seats by their ids or seat_ids."""

    blocked_seat_ids: Annotated[list[SeatId], Field(max_length=250_000)] = Field(default_factory=list)
    disabled_zones: Annotated[list[Id], Field(max_length=1000)] = Field(default_factory=list)
    zone_overrides: Annotated[dict[Id, ZoneOverride], Field(max_length=1000)] = Field(default_factory=dict)
    pricing_zones: Annotated[dict[Id, PriceZone], Field(max_length=1000)] = Field(default_factory=dict)


class ChooseLayout(Asked):
    """Which version of which layout an event uses, and how. What was chosen before is replaced."""

    layout_id: Id
    layout_version: Annotated[int, Field(ge=1)] | None = None
    overrides: Overrides = Field(default_factory=Overrides)
    seating_overrides: SeatingOverrides = Field(default_factory=SeatingOverrides)

    def chosen(self) -> Chosen:
        """As the use case takes it."""
        deltas = self.overrides
        return Chosen(
            layout_id=self.layout_id,
            layout_version=self.layout_version,
            blocked_seats=tuple(deltas.blocked_seat_ids),
            disabled_zones=tuple(deltas.disabled_zones),
            zone_overrides={id: _said(changed) for id, changed in deltas.zone_overrides.items()},
            price_zones={id: _said(price) for id, price in deltas.pricing_zones.items()},
            seating_overrides=self.seating_overrides.changes(),
        )


def _said(shape: BaseModel) -> dict[str, Any]:
    return shape.model_dump(exclude_unset=True, exclude_none=True)


class EventZoneView(BaseModel):
    """A zone as it is at the event; `event_zone` is the number by which gates and tickets know it."""

    id: str
    number: int
    event_zone: int | None
    name: str
    zone_type: ZoneTypeWord
    capacity: int
    access_mode: AccessWord
    membership_tier: str | None
    allowed_roles: list[str]
    price: dict[str, Any]


class EventLayoutView(BaseModel):
    """What an event makes of a layout."""

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
    updated_at: str


def event_layout_view(
    row: EventLayoutRecord,
    zones: Sequence[EventZone],
    policy: Policy,
    *,
    blocked: list[str],
    disabled: list[str],
    frozen: bool,
) -> EventLayoutView:
    """As organisers see it."""
    return EventLayoutView(
        event_id=row.event_id,
        layout_id=row.layout_id,
        layout_version=row.layout_version,
        revision=row.revision,
        capacity=sum(zone.capacity for zone in zones),
        frozen=frozen,
        zones=[_zone(zone, row.event_zones.get(str(zone.number))) for zone in zones],
        blocked_seat_ids=blocked,
        disabled_zones=disabled,
        policy=PolicyView.of(policy),
        seating_overrides=row.seating_overrides,
        updated_at=iso(row.updated_at),
    )


def _zone(zone: EventZone, number: int | None) -> EventZoneView:
    return EventZoneView(
        id=zone.id,
        number=zone.number,
        event_zone=number,
        name=zone.name,
        zone_type=zone.zone_type.value,
        capacity=zone.capacity,
        access_mode=zone.access_mode.value,
        membership_tier=zone.membership_tier,
        allowed_roles=list(zone.allowed_roles),
        price=dict(zone.price),
    )


class WantedSeats(Asked):
    """A party that asks for the best seats left; with wheelchairs, `size` counts them and their companions."""

    size: Party
    zones: Annotated[list[Id], Field(max_length=1000)] | None = None
    apart: bool = False
    wheelchairs: Annotated[int, Field(ge=0, le=100)] = 0
    override: bool = False  # the box office: single seats, kept seats and large parties are its own affair


class PickedSeats(Asked):
    """Seats that somebody picked."""

    seat_ids: Annotated[list[SeatId], Field(min_length=1, max_length=1000)]
    apart: bool = False
    override: bool = False


class ClusterView(BaseModel):
    """Neighbours."""

    zone: str
    row: str
    seat_ids: list[str]


class OfferView(BaseModel):
    """Seats for a party. Nothing is held by asking."""

    grade: str
    words: str
    orphans: int
    clusters: list[ClusterView]
    companion_seats_kept: list[str]


def offer_view(offer: Offer, names: dict[int, str], kept: Iterable[int]) -> OfferView:
    """As whoever asked sees it."""
    return OfferView(
        grade=offer.grade.value,
        words=offer.words,
        orphans=offer.orphans,
        clusters=[_cluster(cluster, names) for cluster in offer.clusters],
        companion_seats_kept=[names[seat] for seat in kept],
    )


def _cluster(cluster: Cluster, names: dict[int, str]) -> ClusterView:
    row = cluster.standing.row
    return ClusterView(zone=row.zone_name, row=row.label, seat_ids=[names[seat] for seat in cluster.seats])
