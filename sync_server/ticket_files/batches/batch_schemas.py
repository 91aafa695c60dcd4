"""Schemas of requests and responses about PDFs of many tickets."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from sync_server.plumbing.api.schemas import IsoTime, RequestBody, View
from sync_server.ticket_files.models import TicketBatchRow


class NewTicketBatch(RequestBody):
    """Which tickets to write: all of the event, or those of a type."""

    ticket_type: Annotated[int, Field(ge=1, le=65535)] | None = None


class TicketBatchView(View):
    """A PDF of many tickets: how far it is. It is deleted a day after it was finished."""

    id: str
    event_id: str
    ticket_type: int | None
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    percent: int
    tickets: int
    written: int
    bytes: int
    problem: str
    created_at: IsoTime
    finished_at: IsoTime | None


class TicketBatchesView(BaseModel):
    """A page of PDFs, the newest first."""

    items: list[TicketBatchView]
    next: str | None


def batch_view(row: TicketBatchRow) -> TicketBatchView:
    """The PDF as organisers see it."""
    percent = 100 if row.state == "done" else min(99, row.written * 100 // row.tickets) if row.tickets else 0
    return TicketBatchView.of(row, percent=percent)
