"""Responses about imports."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from sync_server.plumbing.api.schemas import IsoTime, View
from sync_server.seating.models import ImportRecord

State = Literal["waiting", "reading", "writing", "cancelling", "done", "failed", "cancelled"]


class ProblemView(BaseModel):
    """Why an import failed; `details` lists every mistake of the file."""

    code: str
    message: str
    details: dict[str, Any]


class ImportView(View):
    """An import of a layout or a guest list: how far it is, and what became of it."""

    id: str
    venue_id: str
    event_id: str | None  # of a guest list
    zone_id: str | None
    format: str
    state: State
    percent: int
    rows: int  # zones, seats and groups, 0 until the file is read; or guests
    written: int
    added: int  # guests who were not on the list
    layout_id: str | None  # the draft, when it is done
    problem: ProblemView | None
    created_at: IsoTime
    finished_at: IsoTime | None


class ImportsView(BaseModel):
    """A page of imports, the newest first."""

    items: list[ImportView]
    next: str | None


def import_view(row: ImportRecord) -> ImportView:
    """The import as its organisation sees it."""
    done = row.state == "done"
    percent = 100 if done else min(99, row.written * 100 // row.rows) if row.rows else 0
    return ImportView.of(row, state=_state(row), percent=percent, layout_id=row.layout_id if done else None)


def _state(row: ImportRecord) -> str:
    if row.state in {"done", "failed", "cancelled"}:
        return row.state
    if row.ending:
        return "cancelling" if row.ending == "cancelled" else "writing"
    if row.state == "running":
        return "writing" if row.rows else "reading"
    return "waiting"
