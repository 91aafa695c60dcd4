"""Requests and responses about seat maps."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from sync_server.events.rules import Mark
from sync_server.plumbing.api.schemas import Date, Query, RequestBody, iso
from sync_server.seat_maps.attendance import DaySeats


class DayQuery(Query):
    """On which day of the event seats are free, by its date; without it, on all of them."""

    day: Date | None = None


class PlanQuery(Query):
    """The name of the plan; with it the response may be cached for ever."""

    v: Annotated[str, Field(max_length=40)] = ""


class ChangesQuery(DayQuery):
    """The version that the reader has, how long to wait for changes, and the day."""

    since: Annotated[str, Field(max_length=80)] = ""
    wait: Annotated[int, Field(ge=0, le=25)] = 0


Seats = Annotated[list[Annotated[int, Field(ge=1, le=2**31 - 1)]], Field(max_length=5_000)]


class Blocking(RequestBody):
    """Seats by their numbers in the plan: to take off sale, and to put back on sale."""

    block: Seats = Field(default_factory=list)
    open: Seats = Field(default_factory=list)


class BlockedView(BaseModel):
    """How many seats of the event are blocked now, and how many the request changed."""

    blocked: int
    changed: int


class ChangesView(BaseModel):
    """Changes on a map. `reset` says why the state must be fetched again; otherwise `seats` are [number, state]."""

    version: str
    reset: str | None
    seats: list[tuple[int, int]]
    zones: list[dict[str, int]]
    next_end: str | None


class PlanLayout(BaseModel):
    """Which layout the plan is of; the ids of seats are made from its family."""

    id: str
    family: str
    version: int


class PlanZone(BaseModel):
    """A zone of the plan; `event_zone` is its number on tickets."""

    number: int
    id: str
    event_zone: int | None
    name: str
    zone_type: str
    numbered: bool
    open: bool
    access_mode: str
    membership_tier: str | None
    ticket_types: list[int]
    focus: list[float]


class PlanSeats(BaseModel):
    """The seats, column by column; docs/seat-maps.md explains each."""

    first: int
    count: int
    scale: float
    origin: list[float]
    zones: list[tuple[int, int]]
    sections: list[tuple[str, int]]
    rows: list[tuple[str, int]]
    labels: list[list[str | int]]
    seat_ids: list[str | list[str]]
    x: list[int]
    y: list[int]
    categories: list[tuple[str, int]]
    price_categories: list[tuple[str, int]]
    aisles_after: list[int]


class PlanGroup(BaseModel):
    """Seats that belong together: a table, a family block."""

    group_type: str
    name: str | None
    sold_whole: bool
    seats: list[int]


class PlanView(BaseModel):
    """What changes with the layout only; docs/seat-maps.md explains the format."""

    format: int
    id: str
    name: str
    layout: PlanLayout
    zones: list[PlanZone]
    seats: PlanSeats
    focus: list[float | None]
    groups: list[PlanGroup]
    companion_price_category: str | None
    companions: list[list[int]]
    drawing: Any


class StateView(BaseModel):
    """What is free now: two bits for each seat as base64, and the zones; `days` at an event of several."""

    version: str
    plan: str
    as_of: str
    first: int
    count: int
    seats: str
    zones: list[dict[str, int]]
    next_end: str | None
    days: list[str] | None = None


class MapView(BaseModel):
    """The plan of a map and its state; docs/seat-maps.md explains the format."""

    plan: PlanView
    state: StateView


class OccupancyView(BaseModel):
    """How full an event is; `held` and `sold` for organisers, `taken` for everybody else."""

    mark: Mark | None
    as_of: str
    total: int
    available: int
    held: int | None = None
    sold: int | None = None
    taken: int | None = None
    percent_available: float | None
    percent_held: float | None = None
    percent_sold: float | None = None
    percent_taken: float | None = None
    zones: list[dict[str, Any]]


class ZoneOfDay(BaseModel):
    """Guests without a numbered seat, by event zone."""

    zone: int
    inside: int
    left: int


class DayView(BaseModel):
    """Seats by their numbers in the layout; the day runs from `from` to `until`."""

    date: str
    from_: Annotated[str, Field(alias="from", serialization_alias="from")]
    until: str
    inside: list[int]
    left: list[int]
    without_seat: list[ZoneOfDay]

    @classmethod
    def of(cls, found: DaySeats) -> DayView:
        """The attendance as organisers get it."""
        zones = sorted({*found.zones_inside, *found.zones_left})
        return cls.model_validate(
            {
                "date": found.day.date,
                "from": iso(found.day.start),
                "until": iso(found.day.until),
                "inside": sorted(found.inside),
                "left": sorted(found.left),
                "without_seat": [
                    {"zone": zone, "inside": found.zones_inside[zone], "left": found.zones_left[zone]} for zone in zones
                ],
            }
        )
