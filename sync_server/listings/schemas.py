"""Requests and responses of the public listings."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from shared.errors import InvalidRequest
from sync_server.events.rules import Mark
from sync_server.listings.responses import FeedCriteria
from sync_server.plumbing.api.schemas import Query, Time, WholeList
from sync_server.plumbing.language.folding import fold
from sync_server.plumbing.language.words import split_words

MAX_SEARCH_LETTERS = 5_000


def without_nul(typed: str) -> str:
    """The text without NUL, which databases cannot store and nobody means."""
    return typed.replace("\0", "")


class FeedQuery(Query):
    """Which events to find, in which order. All filters must hold; an empty one does not filter."""

    sort: Literal["latest", "trending"] = "latest"
    city: Annotated[str, Field(max_length=50)] = ""
    category: Annotated[str, Field(max_length=50)] = ""
    starts_from: Annotated[Time | None, Field(alias="from")] = None
    starts_before: Annotated[Time | None, Field(alias="to")] = None
    organisation: Annotated[str, Field(max_length=60)] = ""
    q: Annotated[str, Field(max_length=MAX_SEARCH_LETTERS)] = ""
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    after: Annotated[str, Field(max_length=400)] | None = None

    def criteria(self) -> FeedCriteria:
        """The criteria, however they were typed."""
        if self.starts_from is not None and self.starts_before is not None and self.starts_from >= self.starts_before:
            raise InvalidRequest("to: must be later than `from`.", field="to")
        return FeedCriteria(
            sort=self.sort,
            organisation=without_nul(self.organisation) or None,
            city=fold(without_nul(self.city)) or None,
            category=fold(without_nul(self.category)) or None,
            starts_from=self.starts_from,
            starts_before=self.starts_before,
            words=tuple(split_words(self.q)) if self.q.strip() else None,
        )


class PageQuery(Query):
    """Whose event is meant, if the slug is ambiguous."""

    organisation: Annotated[str, Field(max_length=60)] = ""


class CitiesQuery(Query):
    """How the names of the cities start."""

    prefix: Annotated[str, Field(max_length=50)] = ""


class OrganiserView(BaseModel):
    """The organiser of an event."""

    slug: str
    name: str


class CoverView(BaseModel):
    """A picture, and its alternative text."""

    id: str
    alt: str


class OfferedView(BaseModel):
    """What the shop offers of an event: the cheapest and the dearest ticket with its fee, and whether any are left.

    `begins_at` is when the first ticket type is sold, where its own sale begins later than now.
    """

    from_cents: int
    to_cents: int
    currency: str
    left: bool
    begins_at: str | None


class CardView(BaseModel):
    """An event as lists show it; `offer` is null where the shop has no tickets for it."""

    id: str
    slug: str
    name: str
    category: str
    organisation: OrganiserView
    status: Literal["published", "live", "postponed"]
    sale_status: Literal["upcoming", "on_sale", "sold_out", "closed"]
    offer: OfferedView | None
    mark: Mark | None
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
    """A page of the feed: the published events of all organisations."""

    audience: Literal["public"]
    items: list[CardView]
    next: str | None


class SimilarView(WholeList):
    """Events like another one, the nearest in time first."""

    audience: Literal["public"]
    items: list[CardView]


class ReplacementView(BaseModel):
    """The event that takes place instead."""

    id: str
    slug: str


class EventPageView(CardView):
    """An event as its own page shows it; `days` are the dates that seats and places can be held for."""

    description: str
    address: str
    days: list[str]
    replaced_by: ReplacementView | None


class CityView(BaseModel):
    """A city, and its number of listed events."""

    city: str
    events: int


class CitiesView(WholeList):
    """Cities, those with most events first."""

    items: list[CityView]
