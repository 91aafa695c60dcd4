"""Shapes of answers about an event's numbers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from pydantic import BaseModel, Field

from sync_server.live.board import Board
from sync_server.plumbing.shapes import Query, iso_or_none


class GateNumbers(BaseModel):
    """One gate's numbers."""

    number: int
    code: str
    name: str
    open: bool
    entries: int
    exits: int
    refused: int
    inside: int


class BoardOut(BaseModel):
    """The numbers of one event; `silent` devices have not spoken for a minute, so what they know is missing here."""

    version: str
    status: str
    entries: int
    exits: int
    refused: int
    inside: int
    conflicts: int
    devices: int
    silent: int
    silent_since: str | None
    gates: list[GateNumbers]
    refusals: dict[str, int]

    @classmethod
    def of(cls, board: Board) -> BoardOut:
        """As the API tells it."""
        return cls.model_validate(asdict(board) | {"silent_since": iso_or_none(board.silent_since)})


class SummariesQuery(Query):
    """Which events to list."""

    venue_id: Annotated[str, Field(min_length=1, max_length=36)] | None = None


class SummaryOut(BaseModel):
    """An event in a few words."""

    id: str
    number: int
    code: str
    slug: str
    name: str
    status: str
    venue_id: str
    venue_name: str
    timezone: str
    start_at: str
    end_at: str
    sale_start_at: str | None
    sale_end_at: str
    rescheduled_at: str | None
    replaced_by_event_id: str | None


class SummariesOut(BaseModel):
    """Events in a few words, by their start."""

    items: list[SummaryOut]
