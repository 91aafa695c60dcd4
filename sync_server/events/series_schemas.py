"""Shapes of requests and answers about copies and series of events."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema, model_validator

from sync_server.events.queries import Series
from sync_server.events.recurrence import AT_MOST, WEEKDAYS, Rule
from sync_server.events.schemas import Code, EventView, Title
from sync_server.plumbing.shapes import Asked, Slug, Time, iso


def _day(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("is a date like 2026-07-04")
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise ValueError("is no date; write it like 2026-07-04") from None


Day = Annotated[date, BeforeValidator(_day), WithJsonSchema({"type": "string", "format": "date"})]


class CopyOf(Asked):
    """When the same evening takes place once more; everything else moves along. Without an end it lasts as long."""

    start_at: Time
    end_at: Time | None = None
    name: Title | None = None
    slug: Slug | None = None
    code: Code | None = None


class NewSeries(Asked):
    """Either dates, or a rule: every so many days or on days of the week, so many times or until a date."""

    dates: Annotated[list[Time], Field(min_length=1, max_length=AT_MOST)] | None = None
    every_days: Annotated[int, Field(ge=1, le=366)] | None = None
    weekdays: Annotated[list[Literal["mo", "tu", "we", "th", "fr", "sa", "su"]], Field(min_length=1)] | None = None
    count: Annotated[int, Field(ge=1, le=AT_MOST)] | None = None
    until: Day | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        ways = [name for name in ("dates", "every_days", "weekdays") if getattr(self, name) is not None]
        if len(ways) != 1:
            raise ValueError("give one of dates, every_days and weekdays")
        if self.dates is None and (self.count is None) == (self.until is None):
            raise ValueError("give either count or until, so that the series ends")
        if self.dates is not None and (self.count is not None or self.until is not None):
            raise ValueError("dates end by themselves: leave out count and until")
        return self

    def rule(self) -> Rule:
        """The rule, where no dates are given."""
        days = tuple(sorted(WEEKDAYS.index(day) for day in self.weekdays or ()))
        return Rule(self.every_days, days, self.count, self.until)


class SeriesMade(BaseModel):
    """A series that grew: the copies, in their order."""

    recurrence_group_id: str
    items: list[EventView]


class SeriesView(BaseModel):
    """A series, by its first event."""

    recurrence_group_id: str
    name: str
    events: int
    first_start_at: str
    last_start_at: str

    @classmethod
    def of(cls, series: Series) -> SeriesView:
        """As organisers see it."""
        first, last = iso(series.first), iso(series.last)
        return cls(
            recurrence_group_id=series.id,
            name=series.name,
            events=series.events,
            first_start_at=first,
            last_start_at=last,
        )


class AllSeries(BaseModel):
    """The organisation's series, by their first evening."""

    items: list[SeriesView]


class Gone(BaseModel):
    """What became of an event that was deleted."""

    deleted: bool
    archived: bool
    message: str
    uses: dict[str, int]
