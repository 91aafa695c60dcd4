"""Schemas of requests and responses about events and zones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field

from shared.clock import Millis
from shared.lifecycle import EventStatus
from sync_server.events.cover_images.cover_schemas import CoverView, cover_views
from sync_server.events.models import EventRecord
from sync_server.events.rules import ForSale, Mark, mark, sale_status
from sync_server.events.snapshot_rows import days
from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.json_limits import Settings
from sync_server.plumbing.api.one_line import SEVERAL_LINES
from sync_server.plumbing.api.schemas import (
    Approval,
    Id,
    IsoTime,
    PatchBody,
    Query,
    Reason,
    RequestBody,
    Slug,
    Time,
    View,
    WholeList,
)

Title = Annotated[str, Field(min_length=1, max_length=200)]
Code = Annotated[str, Field(pattern="^[A-Z0-9]{2,12}$")]
Hours = Annotated[int, Field(ge=1, le=24 * 365)]
Capacity = Annotated[int, Field(ge=0, le=1_000_000)]
ZoneKind = Literal["reserved_seating", "ga_seated", "ga_standing", "vip_reserved", "vip_standing"]
Status = Literal["draft", "published", "live", "ended", "cancelled", "postponed", "archived"]
Description = Annotated[str, Field(min_length=1, max_length=2000), SEVERAL_LINES]
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

    def equal(self) -> dict[str, Any]:
        """The fields that an event must equal."""
        return self.model_dump(include={"archived", "venue_id", "slug", "recurrence_group_id"})

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


class DayView(View):
    """One event day."""

    date: str
    start: IsoTime
    until: IsoTime


class WarningView(View):
    """Something that does not forbid a step, but that most organisers want to know before it."""

    code: str
    message: str


class EventView(EditedView):
    """An event."""

    unedited = frozenset(
        {
            "sale_status",
            "tickets_issued",
            "joined_elsewhere",
            "tickets_affected",
            "venue_capacity",
            "updated_at",
            "warnings",
        }
    )

    id: str
    number: int
    code: str
    slug: str
    name: str
    description: str
    category: str
    status: Status
    sale_status: str
    mark: Mark | None
    venue_id: str
    venue_name: str
    city: str
    country: str
    address: str
    timezone: str
    start_at: IsoTime
    end_at: IsoTime
    doors_at: IsoTime | None
    sale_start_at: IsoTime | None
    sale_end_at: IsoTime
    go_live_at: IsoTime | None
    end_at_auto: IsoTime | None
    counts_from: IsoTime | None
    rescheduled_at: IsoTime | None
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
    owner_id: str | None  # None: made on the command line
    participants_elsewhere: bool
    joined_elsewhere: int | None = None  # filled in responses to reads only
    tickets_affected: int | None = None  # filled in responses to cancelling and postponing only
    covers: list[CoverView]
    warnings: list[WarningView]  # of a draft, before it is published
    image_url: str | None
    thumbnail_url: str | None
    created_at: IsoTime
    updated_at: IsoTime
    published_at: IsoTime | None
    cancelled_at: IsoTime | None
    archived_at: IsoTime | None


def event_view(
    row: EventRecord, for_sale: ForSale | None, now: Millis, joined: Mapping[str, int] | None = None
) -> EventView:
    """An event as organisers see it, with what its ticket types offer."""
    covers = cover_views(row.cover_images, row.cover_alts)
    return EventView.of(
        row,
        sale_status=sale_status(row, for_sale, now),
        mark=mark(row),
        days=days(row),
        joined_elsewhere=None if joined is None else joined.get(row.id, 0),
        covers=covers,
        warnings=_before_publishing(row),
        image_url=covers[0].url if covers else None,
        thumbnail_url=covers[0].thumbnail_url if covers else None,
    )


def _before_publishing(row: EventRecord) -> list[WarningView]:
    if row.status != EventStatus.DRAFT or row.cover_images:
        return []
    message = "The event has no picture. Lists and its page show one made of its name and date until you add a cover."
    return [WarningView(code="no_cover", message=message)]


class EventsView(BaseModel):
    """A page of the events of your organisation."""

    audience: Literal["organisation"] = "organisation"
    items: list[EventView]
    next: str | None


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


class ZoneView(EditedView):
    """A zone."""

    number: int
    name: str
    kind: str
    capacity: int | None
    membership_tier: str | None


class ZonesView(WholeList):
    """The zones of an event."""

    items: list[ZoneView]


class ServedZones(RequestBody):
    """The zones that a gate serves at this event; an empty list means all."""

    zones: Annotated[list[Annotated[int, Field(ge=1, le=65535)]], Field(max_length=1000)]


class EventGateView(EditedView):
    """An entrance at this event."""

    number: int
    code: str
    name: str
    open: bool
    zones: list[int]
    capacity: int | None
    step_free: bool


class EventGatesView(WholeList):
    """The entrances of an event."""

    items: list[EventGateView]
