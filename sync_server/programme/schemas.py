"""Shapes of visitors' questions and of what they are answered."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from shared.errors import InvalidRequest
from sync_server.plumbing.folding import fold
from sync_server.plumbing.shapes import Query, Time
from sync_server.programme.answers import Question
from sync_server.programme.words import words

LONGEST_SEARCH = 5_000


def plain(typed: str) -> str:
    """Without the one letter that no database keeps, and that nobody means."""
    return typed.replace("\0", "")


class FeedQuery(Query):
    """Which events to find, in which order. All filters must hold; an empty one does not filter."""

    sort: Literal["latest", "trending"] = "latest"
    city: Annotated[str, Field(max_length=50)] = ""
    category: Annotated[str, Field(max_length=50)] = ""
    starts_from: Annotated[Time | None, Field(alias="from")] = None
    starts_before: Annotated[Time | None, Field(alias="to")] = None
    organisation: Annotated[str, Field(max_length=60)] = ""
    q: Annotated[str, Field(max_length=LONGEST_SEARCH)] = ""
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    after: Annotated[str, Field(max_length=400)] | None = None

    def question(self) -> Question:
        """What is asked, however it was typed."""
        if self.starts_from is not None and self.starts_before is not None and self.starts_from >= self.starts_before:
            raise InvalidRequest("to: lies before `from`, so that no event starts between them.", field="to")
        return Question(
            sort=self.sort,
            organisation=plain(self.organisation) or None,
            city=fold(plain(self.city)) or None,
            category=fold(plain(self.category)) or None,
            starts_from=self.starts_from,
            starts_before=self.starts_before,
            words=tuple(words(self.q)) if self.q.strip() else None,
        )


class PageQuery(Query):
    """Whose event is meant, where a slug alone does not say it."""

    organisation: Annotated[str, Field(max_length=60)] = ""


class CitiesQuery(Query):
    """How the names of cities begin."""

    prefix: Annotated[str, Field(max_length=50)] = ""


class OrganiserView(BaseModel):
    """Who makes an event."""

    slug: str
    name: str


class CoverView(BaseModel):
    """A picture, and what it shows in words."""

    id: str
    alt: str


class CardView(BaseModel):
    """An event as visitors find it."""

    id: str
    slug: str
    name: str
    category: str
    organisation: OrganiserView
    status: Literal["published", "live", "postponed"]
    sale_status: Literal["upcoming", "on_sale", "sold_out", "closed"]
    start_at: str
    end_at: str
    doors_at: str | None
    rescheduled_at: str | None
    sale_start_at: str | None
    sale_end_at: str
    timezone: str
    venue_name: str
    city: str
    country: str
    covers: list[CoverView]
    participants: int


class FeedView(BaseModel):
    """A page of the feed."""

    items: list[CardView]
    next: str | None


class ReplacementView(BaseModel):
    """The event that takes place instead."""

    id: str
    slug: str


class EventPageView(CardView):
    """An event as its own page shows it."""

    description: str
    address: str
    replaced_by: ReplacementView | None


class CityView(BaseModel):
    """A city, and how many events are to be found there."""

    city: str
    events: int


class CitiesView(BaseModel):
    """Cities, those with most events first."""

    items: list[CityView]
