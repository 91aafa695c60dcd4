"""Schemas of responses with figures of events."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from sync_server.plumbing.api.pagination import PageQuery
from sync_server.plumbing.api.schemas import View


class TypeFunnelView(View):
    """Admissions of one ticket type: ordered, paid, and entered at least once."""

    number: int
    name: str
    ordered: int
    paid: int
    entered: int


class DayFunnelView(View):
    """Admissions to one event day: ordered, paid, and entered on it. A ticket for several days counts on each."""

    date: str
    ordered: int
    paid: int
    entered: int


class FunnelView(View):
    """How many came how far at an event.

    Guests who joined the queue, were admitted to the sale, held seats, and were in the checkout; then admissions that
    were ordered, paid, and entered. `mark` says that the event does not take place as it was announced.
    """

    event_id: str
    number: int
    name: str
    status: str
    mark: Literal["cancelled", "postponed", "rescheduled"] | None
    joined: int
    admitted: int
    held: int
    checked_out: int
    ordered: int
    paid: int
    entered: int
    types: list[TypeFunnelView]
    days: list[DayFunnelView]


class FunnelsView(BaseModel):
    """A page of events by their start."""

    items: list[FunnelView]
    next: str | None


class FunnelsQuery(PageQuery):
    """Which page."""
