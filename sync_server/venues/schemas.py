"""Shapes of requests and answers about venues and gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from sync_server.plumbing.shapes import Asked, Changed, Name, Slug, iso
from sync_server.venues.models import GateRecord, VenueRecord

Capacity = Annotated[int, Field(ge=0, le=1_000_000)]
GateCode = Annotated[str, Field(min_length=1, max_length=20, pattern="^[A-Za-z0-9_-]+$")]
Settings = Annotated[dict[str, Any], Field(max_length=100)]


class NewVenue(Asked):
    """A venue to make; without a slug one is made of the name."""

    name: Name
    slug: Slug | None = None
    timezone: Annotated[str, Field(min_length=1, max_length=64)]
    address: Annotated[str, Field(max_length=500)] = ""
    city: Annotated[str, Field(max_length=50)] = ""
    country: Annotated[str, Field(max_length=60)] = ""
    max_capacity: Capacity = 0
    settings: Settings = Field(default_factory=dict)


class ChangeVenue(Changed):
    """What shall change about a venue; events that were made before keep what they copied."""

    name: Name | None = None
    slug: Slug | None = None
    timezone: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    address: Annotated[str, Field(max_length=500)] | None = None
    city: Annotated[str, Field(max_length=50)] | None = None
    country: Annotated[str, Field(max_length=60)] | None = None
    max_capacity: Capacity | None = None
    settings: Settings | None = None


class NewGate(Asked):
    """An entrance to make."""

    code: GateCode
    name: Name | None = None
    status: Literal["open", "closed"] = "open"
    capacity: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    step_free: bool = False
    settings: Settings = Field(default_factory=dict)


class ChangeGate(Changed):
    """What shall change about an entrance; a capacity of null lifts the bound."""

    clearable = frozenset({"capacity"})

    name: Name | None = None
    status: Literal["open", "closed"] | None = None
    capacity: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    step_free: bool | None = None
    settings: Settings | None = None


class GateView(BaseModel):
    """An entrance."""

    number: int
    code: str
    name: str
    status: str
    capacity: int | None
    step_free: bool
    settings: dict[str, Any]

    @classmethod
    def of(cls, row: GateRecord) -> GateView:
        """As organisers see it."""
        return cls(
            number=row.number, code=row.code, name=row.name, status=row.status, capacity=row.capacity,
            step_free=row.step_free, settings=row.settings,
        )  # fmt: skip


class GatesView(BaseModel):
    """The entrances of a venue."""

    items: list[GateView]


class VenueView(BaseModel):
    """A venue."""

    id: str
    name: str
    slug: str
    timezone: str
    address: str
    city: str
    country: str
    max_capacity: int
    settings: dict[str, Any]
    gates: list[GateView]
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, row: VenueRecord, gates: Sequence[GateRecord] = ()) -> VenueView:
        """As organisers see it."""
        return cls(
            id=row.id, name=row.name, slug=row.slug, timezone=row.timezone, address=row.address, city=row.city,
            country=row.country, max_capacity=row.max_capacity, settings=row.settings,
            gates=[GateView.of(gate) for gate in gates], created_at=iso(row.created_at), updated_at=iso(row.updated_at),
        )  # fmt: skip


class VenuesView(BaseModel):
    """A page of venues."""

    items: list[VenueView]
    next: str | None
