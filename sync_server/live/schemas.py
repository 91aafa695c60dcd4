"""Requests and responses about live counters."""

from __future__ import annotations

from pydantic import BaseModel

from sync_server.events.rules import Mark
from sync_server.plumbing.api.schemas import Id, IsoTime, Query, View, WholeList


class GateCountersOut(View):
    """The counters of one gate."""

    number: int
    code: str
    name: str
    open: bool
    entries: int
    exits: int
    refused: int
    inside: int
    devices: int
    silent: int
    unsent: int
    heard_at: IsoTime | None
    silent_since: IsoTime | None


class ZoneCountersOut(View):
    """How many are inside with tickets of one zone; 0 are those without one."""

    number: int
    inside: int


class EventCountersOut(View):
    """The counters of one event; `silent` devices have not reported for a minute, so their scans are missing.

    With them and what gates have not uploaded, between `inside_least` and `inside_most` are inside: no device lets more
    than 30 a minute pass, and nobody enters without a ticket. `capacity` 0 is no limit.
    """

    version: str
    status: str
    mark: Mark | None
    entries: int
    exits: int
    refused: int
    inside: int
    conflicts: int
    devices: int
    silent: int
    silent_since: IsoTime | None
    gates: list[GateCountersOut]
    sold: int
    held: int
    capacity: int
    inside_least: int
    inside_most: int
    refusals: dict[str, int]
    zones: list[ZoneCountersOut]


class SummariesQuery(Query):
    """Which events to list."""

    venue_id: Id | None = None


class SummaryOut(BaseModel):
    """A short form of an event."""

    id: str
    number: int
    code: str
    slug: str
    name: str
    status: str
    mark: Mark | None
    venue_id: str
    venue_name: str
    timezone: str
    start_at: str
    end_at: str
    sale_start_at: str | None
    sale_end_at: str
    rescheduled_at: str | None
    replaced_by_event_id: str | None


class SummariesOut(WholeList):
    """Events in their short form, by start."""

    items: list[SummaryOut]
