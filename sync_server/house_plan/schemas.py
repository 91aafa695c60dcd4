"""Shapes of questions and answers about an event's house."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from sync_server.house_plan.attendance import DaySeats
from sync_server.plumbing.shapes import Asked, Query, iso


class PlanQuery(Query):
    """Which drawing is meant; with its name the answer may be kept for ever."""

    v: Annotated[str, Field(max_length=40)] = ""


class ChangesQuery(Query):
    """From which version on, and for how long to wait for news."""

    since: Annotated[str, Field(max_length=80)] = ""
    wait: Annotated[int, Field(ge=0, le=25)] = 0


Seats = Annotated[list[Annotated[int, Field(ge=1, le=2**31 - 1)]], Field(max_length=5_000)]


class Blocking(Asked):
    """Seats by their numbers in the plan: to be taken out of the sale, and to be put back."""

    block: Seats = Field(default_factory=list)
    open: Seats = Field(default_factory=list)


class BlockedView(BaseModel):
    """How many seats of the event are blocked now, and for how many that is new."""

    blocked: int
    changed: int


class ChangesView(BaseModel):
    """News of a house. `reset` says why the state must be fetched anew; else `seats` are [number, state]."""

    version: str
    reset: str | None
    seats: list[tuple[int, int]]
    zones: list[dict[str, int]]
    next_end: str | None


class MapView(BaseModel):
    """A house as it is drawn, and as it stands now; docs/seat-maps.md says how to read it."""

    plan: dict[str, Any]
    state: dict[str, Any]


class OccupancyView(BaseModel):
    """How full an event is; `held` and `sold` for organisers, `taken` for everybody else."""

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
    """Guests without a seat of a layout, by the event's zone."""

    zone: int
    inside: int
    left: int


class DayView(BaseModel):
    """Seats of one event day by their numbers in the layout; `from` and `until` are its span."""

    date: str
    from_: Annotated[str, Field(alias="from", serialization_alias="from")]
    until: str
    inside: list[int]
    left: list[int]
    without_seat: list[ZoneOfDay]

    @classmethod
    def of(cls, found: DaySeats) -> DayView:
        """As organisers see it."""
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
