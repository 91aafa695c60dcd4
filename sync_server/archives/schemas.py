"""Requests and responses about archives."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from sync_server.archives.models import EventArchiveRow
from sync_server.archives.rules import Obstacle
from sync_server.events.rules import Mark
from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.one_line import SEVERAL_LINES
from sync_server.plumbing.api.schemas import Hex, IsoTime, RequestBody, View


class PutAway(RequestBody):
    """Why an event is put away, and whether what is not settled is put up with."""

    reason: Annotated[str, Field(max_length=1000), SEVERAL_LINES] = ""
    confirm: bool = False


class BringBack(RequestBody):
    """Why an event is brought back, such as a dispute."""

    reason: Annotated[str, Field(min_length=3, max_length=1000), SEVERAL_LINES]


class ObstacleView(View):
    """Something that is not settled; a `final` one cannot be confirmed away."""

    code: str
    message: str
    count: int
    final: bool


class ArchiveView(View):
    """How far an event is put away, its file, and its figures."""

    event_id: str
    event_mark: Mark | None  # cancelled, postponed or rescheduled
    state: str
    reason: str
    asked_at: IsoTime | None
    written_at: IsoTime | None
    done_at: IsoTime | None
    rows: int
    rows_done: int
    file: str
    size: int
    sha256: Hex | None
    figures: dict[str, Any]
    problem: str
    obstacles: list[ObstacleView] = Field(default_factory=list)


class ArchivesView(BaseModel):
    """A page of archives."""

    items: list[ArchiveView]
    next: str | None


def archive_view(
    row: EventArchiveRow | None, event_id: str, mark: Mark | None, obstacles: list[Obstacle] | None = None
) -> ArchiveView:
    """An archive; without a row the event is where it always was, and `obstacles` say what is not settled."""
    shown = row or EventArchiveRow(
        event_id=event_id, state="in_tables", reason="", rows=0, rows_done=0, file="", size=0, figures={}, problem=""
    )
    return ArchiveView.of(shown, event_mark=mark, obstacles=[ObstacleView.of(one) for one in obstacles or ()])


class RetentionView(EditedView):
    """How many days each kind of record is kept; null: for ever."""

    days: dict[str, int | None]


class ChangeRetention(RequestBody):
    """Kinds of records, and how many days to keep them from now on; null keeps them for ever."""

    days: Annotated[dict[str, Annotated[int, Field(ge=1, le=36_500)] | None], Field(max_length=20)]
