"""Schemas of requests and responses about copies and series of events."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema, model_validator

from sync_server.events.schemas import Code, EventView, Title
from sync_server.events.series.recurrence import MAX_DATES, WEEKDAYS, RecurrenceRule
from sync_server.plumbing.api.schemas import IsoTime, RequestBody, Slug, Time, View, WholeList


def _day(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("must be a date like 2026-07-04")
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise ValueError("is not a date; write it like 2026-07-04") from None


Day = Annotated[date, BeforeValidator(_day), WithJsonSchema({"type": "string", "format": "date"})]


class CopyOf(RequestBody):
    """When the copy takes place; the other times shift with it. Without `end_at` it lasts as long as the source."""

    start_at: Time
    end_at: Time | None = None
    name: Title | None = None
    slug: Slug | None = None
    code: Code | None = None


class NewSeries(RequestBody):
    """Either dates, or a rule: every n days or on certain weekdays, `count` times or until a date."""

    dates: Annotated[list[Time], Field(min_length=1, max_length=MAX_DATES)] | None = None
    every_days: Annotated[int, Field(ge=1, le=366)] | None = None
    weekdays: Annotated[list[Literal["mo", "tu", "we", "th", "fr", "sa", "su"]], Field(min_length=1)] | None = None
    count: Annotated[int, Field(ge=1, le=MAX_DATES)] | None = None
    until: Day | None = None

    @model_validator(mode="after")
    def _exactly_one_rule(self) -> Self:
        given = [name for name in ("dates", "every_days", "weekdays") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("give exactly one of dates, every_days and weekdays")
        if self.dates is None and (self.count is None) == (self.until is None):
            raise ValueError("give either count or until, so that the series ends")
        if self.dates is not None and (self.count is not None or self.until is not None):
            raise ValueError("leave out count and until when you give dates")
        return self

    def rule(self) -> RecurrenceRule:
        """The rule, if no dates are given."""
        days = tuple(sorted(WEEKDAYS.index(day) for day in self.weekdays or ()))
        return RecurrenceRule(self.every_days, days, self.count, self.until)


class SeriesMade(BaseModel):
    """The new copies in a series, in order."""

    recurrence_group_id: str
    items: list[EventView]


class SeriesView(View):
    """A series, by its first event."""

    recurrence_group_id: str
    name: str
    events: int
    first_start_at: IsoTime
    last_start_at: IsoTime


class AllSeries(WholeList):
    """The organisation's series, ordered by their first event."""

    items: list[SeriesView]


class Gone(View):
    """Whether the event was deleted or archived, and why."""

    deleted: bool
    archived: bool
    message: str
    uses: dict[str, int]
