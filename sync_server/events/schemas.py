"""Schemas of requests and responses about events and zones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field

from shared.clock import Millis
from shared.lifecycle import EventStatus
from shared.snapshot import GateRow
from sync_server.events.cover_images.cover_schemas import CoverView, cover_views
from sync_server.events.models import EventRecord, ZoneRecord
from sync_server.events.rules import SaleTerms, effective_capacity, sale_status
from sync_server.events.snapshot_rows import days
from sync_server.plumbing.api.json_limits import Settings
from sync_server.plumbing.api.schemas import (
    Approval,
    PatchBody,
    Query,
    Reason,
    RequestBody,
    Slug,
    Time,
    iso,
    iso_or_none,
)

Title = Annotated[str, Field(min_length=1, max_length=200)]
Code = Annotated[str, Field(pattern="^[A-Z0-9]{2,12}$")]
Id = Annotated[str, Field(min_length=1, max_length=36)]
Hours = Annotated[int, Field(ge=1, le=24 * 365)]
Capacity = Annotated[int, Field(ge=0, le=1_000_000)]
ZoneKind = Literal["reserved_seating", "ga_seated", "ga_standing", "vip_reserved", "vip_standing"]
Status = Literal["draft", "published", "live", "ended", "cancelled", "postponed", "archived"]
Description = Annotated[str, Field(min_length=1, max_length=2000)]
Category = Annotated[str, Field(min_length=1, max_length=50)]


class NewEvent(RequestBody):
    """A new event, as a draft. A capacity of 0 means as many as the venue holds; by default sales end at the start."""

    venue_id: Id
    name: Title
    slug: Slug | None = None
    code: Code | None = None
    description: Description | None = None
    category: Category | None = None
    start_at: Time
    end_at: Time
    doors_at: Time | None = None
    sale_start_at: Time | None = None
    sale_end_at: Time | None = None
    go_live_at: Time | None = None
    end_at_auto: Time | None = None
    capacity: Capacity = 0
    cutover_hour: Annotated[int, Field(ge=0, le=23)] = 5
    cutover_empties: bool = True
    anti_passback: bool = False
    name_checks: bool = False
    known_tickets_only: bool = False
    max_snapshot_age_hours: Hours | None = None
    clock_uncertain: Literal["admit", "deny"] = "admit"
    repeat_ms: Annotated[int, Field(ge=0, le=600_000)] = 5_000
    recurrence_group_id: Id | None = None
    owner_id: Id | None = None
    participants_elsewhere: bool = False
    settings: Settings = Field(default_factory=dict)


class ChangeEvent(PatchBody):
    """Changes to an event; its status is changed elsewhere.

    A new start shifts the other times of the event, unless they are given too; `move_times` says whether sale windows
    and the times of tickets shift as well.
    """

    clearable = frozenset(
        {
            "doors_at",
            "sale_start_at",
            "go_live_at",
            "end_at_auto",
            "max_snapshot_age_hours",
            "recurrence_group_id",
            "description",
            "category",
        }
    )

    name: Title | None = None
    slug: Slug | None = None
    code: Code | None = None
    description: Description | None = None
    category: Category | None = None
    start_at: Time | None = None
    end_at: Time | None = None
    doors_at: Time | None = None
    sale_start_at: Time | None = None
    sale_end_at: Time | None = None
    go_live_at: Time | None = None
    end_at_auto: Time | None = None
    capacity: Capacity | None = None
    cutover_hour: Annotated[int, Field(ge=0, le=23)] | None = None
    cutover_empties: bool | None = None
    anti_passback: bool | None = None
    name_checks: bool | None = None
    known_tickets_only: bool | None = None
    max_snapshot_age_hours: Hours | None = None
    clock_uncertain: Literal["admit", "deny"] | None = None
    repeat_ms: Annotated[int, Field(ge=0, le=600_000)] | None = None
    recurrence_group_id: Id | None = None
    owner_id: Id | None = None
    participants_elsewhere: bool | None = None
    settings: Settings | None = None
    move_times: bool = True


_ONE: Final = "(" + "|".join(EventStatus) + ")"
_STATUSES: Final = f"^{_ONE}(,{_ONE})*$"


class EventsQuery(Query):
    """Which events to list."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    after: Annotated[str, Field(max_length=400)] | None = None
    status: Annotated[str, Field(pattern=_STATUSES, description="One status, or several with commas")] | None = None
    venue_id: Id | None = None
    slug: Slug | None = None
    recurrence_group_id: Id | None = None
    upcoming: bool = False
    archived: bool = False

    def statuses(self) -> tuple[str, ...]:
        """The requested statuses; empty means all but the archived."""
        return tuple(self.status.split(",")) if self.status else ()


class Why(RequestBody):
    """The reason for a change of status, for the audit log."""

    reason: Reason = ""


class CalledOff(Why):
    """Why an event is postponed or cancelled, and which event replaces it, if any."""

    replaced_by_event_id: Id | None = None
    approval: Approval = ""


class NewDate(RequestBody):
    """The new date of a postponed event."""

    rescheduled_at: Time
    move_times: bool = True
    reason: Reason = ""


class DayView(BaseModel):
    """One event day."""

    date: str
    start: str
    until: str


class EventView(BaseModel):
    """An event."""

    id: str
    number: int
    code: str
    slug: str
    name: str
    description: str
    category: str
    status: Status
    sale_status: str
    venue_id: str
    venue_name: str
    city: str
    country: str
    address: str
    timezone: str
    start_at: str
    end_at: str
    doors_at: str | None
    sale_start_at: str | None
    sale_end_at: str
    go_live_at: str | None
    end_at_auto: str | None
    counts_from: str | None
    rescheduled_at: str | None
    postponement_reason: str
    replaced_by_event_id: str | None
    recurrence_group_id: str | None
    days: list[DayView]
    capacity: int
    tickets_issued: int
    cutover_hour: int
    cutover_empties: bool
    anti_passback: bool
    name_checks: bool
    known_tickets_only: bool
    max_snapshot_age_hours: int | None
    clock_uncertain: str
    repeat_ms: int
    settings: dict[str, Any]
    venue_capacity: int
    owner_id: str
    participants_elsewhere: bool
    joined_elsewhere: int | None = None  # filled in responses to reads only
    covers: list[CoverView]
    image_url: str | None
    thumbnail_url: str | None
    created_at: str
    updated_at: str
    published_at: str | None
    cancelled_at: str | None
    archived_at: str | None

    @classmethod
    def of(cls, row: EventRecord, now: Millis, joined: Mapping[str, int] | None = None) -> EventView:
        """The organiser's view of an event."""
        plain = {name: getattr(row, name) for name in cls.model_fields if hasattr(row, name)}
        plain |= {name: iso_or_none(at) for name, at in plain.items() if name in _TIMES}
        covers = cover_views(row.cover_images, row.cover_alts)
        extra: dict[str, Any] = (
            {"image_url": covers[0].url, "thumbnail_url": covers[0].thumbnail_url} if covers else {**_NO_IMAGE}
        )
        extra |= {"joined_elsewhere": None if joined is None else joined.get(row.id, 0)}
        return cls(**plain, **extra, covers=covers, sale_status=sale_status(_sale_terms(row), now), days=_days(row))


_NO_IMAGE = {"image_url": None, "thumbnail_url": None}
_TIMES = frozenset(name for name in EventView.model_fields if name.endswith("_at")) | {"end_at_auto", "counts_from"}


def _sale_terms(row: EventRecord) -> SaleTerms:
    return SaleTerms(
        EventStatus(row.status),
        row.rescheduled_at,
        row.sale_start_at,
        row.sale_end_at,
        effective_capacity(row.capacity, row.venue_capacity, row.layout_capacity),
        row.tickets_issued,
    )


def _days(row: EventRecord) -> list[DayView]:
    return [DayView(date=day.date, start=iso(day.start), until=iso(day.until)) for day in days(row)]


class EventsView(BaseModel):
    """A page of events."""

    items: list[EventView]
    next: str | None

    @classmethod
    def of(
        cls, rows: Sequence[EventRecord], next_page: str | None, now: Millis, joined: Mapping[str, int]
    ) -> EventsView:
        """A page of organiser's views."""
        return cls(items=[EventView.of(row, now, joined) for row in rows], next=next_page)


class NewZone(RequestBody):
    """A new zone."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    kind: ZoneKind = "ga_standing"
    capacity: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    membership_tier: Annotated[str, Field(min_length=1, max_length=40)] | None = None


class ChangeZone(PatchBody):
    """Changes to a zone."""

    clearable = frozenset({"capacity", "membership_tier"})

    name: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    kind: ZoneKind | None = None
    capacity: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    membership_tier: Annotated[str, Field(min_length=1, max_length=40)] | None = None


class ZoneView(BaseModel):
    """A zone."""

    number: int
    name: str
    kind: str
    capacity: int | None
    membership_tier: str | None

    @classmethod
    def of(cls, row: ZoneRecord) -> ZoneView:
        """The organiser's view of a zone."""
        return cls(
            number=row.number, name=row.name, kind=row.kind, capacity=row.capacity, membership_tier=row.membership_tier
        )


class ZonesView(BaseModel):
    """The zones of an event."""

    items: list[ZoneView]


class ServedZones(RequestBody):
    """The zones that a gate serves at this event; an empty list means all."""

    zones: Annotated[list[Annotated[int, Field(ge=1, le=65535)]], Field(max_length=1000)]


class EventGateView(BaseModel):
    """An entrance at this event."""

    number: int
    code: str
    name: str
    open: bool
    zones: list[int]
    capacity: int | None
    step_free: bool

    @classmethod
    def of(cls, row: GateRow) -> EventGateView:
        """The view of a snapshot row."""
        return cls(
            number=row.number,
            code=row.code,
            name=row.name,
            open=row.open,
            zones=list(row.zones),
            capacity=row.capacity,
            step_free=row.step_free,
        )


class EventGatesView(BaseModel):
    """The entrances of an event."""

    items: list[EventGateView]
