"""Schemas of requests and responses about venues and gates."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.json_limits import Settings
from sync_server.plumbing.api.one_line import SEVERAL_LINES
from sync_server.plumbing.api.pagination import PageQuery
from sync_server.plumbing.api.schemas import IsoTime, Name, PatchBody, Query, RequestBody, Slug, View, WholeList

Capacity = Annotated[int, Field(ge=0, le=1_000_000)]
GateCode = Annotated[str, Field(min_length=1, max_length=20, pattern="^[A-Za-z0-9_-]+$")]
City = Annotated[str, Field(min_length=1, max_length=50)]
Country = Annotated[str, Field(min_length=2, max_length=60)]
Address = Annotated[str, Field(min_length=5, max_length=500)]
Website = Annotated[str, Field(max_length=300, pattern=r"^https?://[^\s/?#]+\.?[^\s]*$")]
Latitude = Annotated[float, Field(ge=-90, le=90, allow_inf_nan=False)]
Longitude = Annotated[float, Field(ge=-180, le=180, allow_inf_nan=False)]
Kind = Literal["physical", "virtual"]
FreeText = Annotated[str, Field(min_length=1, max_length=2000), SEVERAL_LINES]


class VenueSettings(RequestBody):
    """Defaults for events at a venue, and information for guests."""

    doors_minutes_before: Annotated[int, Field(ge=0, le=24 * 60)] | None = None
    """How long before the start the doors of new events open."""
    age_limit: Annotated[int, Field(ge=0, le=99)] | None = None
    access_rules: Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=20)] | None = (
        None
    )
    house_rules: FreeText | None = None
    accessibility: FreeText | None = None
    directions: FreeText | None = None


class NewVenue(RequestBody):
    """A new venue; without a slug, one is derived from the name. Leave out what is not known yet."""

    name: Name
    slug: Slug | None = None
    kind: Kind = "physical"
    timezone: Annotated[str, Field(min_length=1, max_length=64)]
    address: Address | None = None
    city: City | None = None
    country: Country | None = None
    latitude: Latitude | None = None
    longitude: Longitude | None = None
    website: Website | None = None
    max_capacity: Capacity = 0
    settings: VenueSettings = Field(default_factory=VenueSettings)


class ChangeVenue(PatchBody):
    """Changes to a venue; existing events keep what they copied. Null clears a field."""

    clearable = frozenset({"address", "city", "country", "latitude", "longitude", "website"})

    name: Name | None = None
    slug: Slug | None = None
    kind: Kind | None = None
    timezone: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    address: Address | None = None
    city: City | None = None
    country: Country | None = None
    latitude: Latitude | None = None
    longitude: Longitude | None = None
    website: Website | None = None
    max_capacity: Capacity | None = None
    settings: VenueSettings | None = None


class VenuesQuery(PageQuery):
    """Which venues to list."""

    city: Annotated[str, Field(max_length=50)] | None = None
    timezone: Annotated[str, Field(max_length=64)] | None = None
    archived: bool = False


class GatesQuery(Query):
    """Which entrances to list."""

    status: Literal["open", "closed"] | None = None


class NewGate(RequestBody):
    """A new entrance."""

    code: GateCode
    name: Name | None = None
    status: Literal["open", "closed"] = "open"
    capacity: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    step_free: bool = False
    settings: Settings = Field(default_factory=dict)


class ChangeGate(PatchBody):
    """Changes to an entrance; a capacity of null removes the limit."""

    clearable = frozenset({"capacity"})

    name: Name | None = None
    status: Literal["open", "closed"] | None = None
    capacity: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    step_free: bool | None = None
    settings: Settings | None = None


class GateView(EditedView):
    """An entrance."""

    number: int
    code: str
    name: str
    status: str
    capacity: int | None
    step_free: bool
    settings: dict[str, Any]


class GatesView(WholeList):
    """The entrances of a venue."""

    items: list[GateView]


class VenueView(EditedView):
    """A venue."""

    unedited = frozenset({"gates", "updated_at"})

    id: str
    name: str
    slug: str
    kind: str
    timezone: str
    address: str
    city: str
    country: str
    latitude: float | None
    longitude: float | None
    website: str
    max_capacity: int
    settings: dict[str, Any]
    gates: list[GateView]
    archived_at: IsoTime | None
    created_at: IsoTime
    updated_at: IsoTime


class VenuesView(View):
    """A page of venues."""

    items: list[VenueView]
    next: str | None
