"""/api/events/…/copy and …/series, /api/series, and deleting: evenings that come again, and those that go."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response

from sync_server.events import copying, deleting, queries, recurrence, schemas, series_schemas
from sync_server.events.rows import window
from sync_server.plumbing.once import once
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import deed, organisation, requires

bp = APIBlueprint("series", __name__, tag="Series of events")


@bp.post("/events/<event_id>/copy")
@requires(Action.EDIT_EVENTS)
@bp.input(series_schemas.CopyOf)
@bp.output(schemas.EventView, status_code=201)
def copy(event_id: str, json_data: series_schemas.CopyOf) -> Response:
    """Make the same event once more on another date, as a draft with nothing sold."""

    def write(session: Any) -> dict[str, Any]:
        wish = copying.Wish(**json_data.model_dump())
        row = copying.copy_event(session, organisation(), event_id, wish, deed())
        return schemas.EventView.of(row, parts().clock()).model_dump(mode="json")

    return once(write)


@bp.post("/events/<event_id>/series")
@requires(Action.EDIT_EVENTS)
@bp.input(series_schemas.NewSeries)
@bp.output(series_schemas.SeriesMade, status_code=201)
def repeat(event_id: str, json_data: series_schemas.NewSeries) -> Response:
    """Make up to a hundred copies of an event at once, by a rule or by dates: all of them, or none."""

    def write(session: Any) -> dict[str, Any]:
        starts = _starts(session, event_id, json_data)
        group, rows = copying.repeat_event(session, organisation(), event_id, starts, deed())
        items = [schemas.EventView.of(row, parts().clock()) for row in rows]
        return series_schemas.SeriesMade(recurrence_group_id=group, items=items).model_dump(mode="json")

    return once(write)


def _starts(session: Any, event_id: str, asked: series_schemas.NewSeries) -> list[int]:
    event = queries.event(session, organisation(), event_id)
    if asked.dates is not None:
        return recurrence.checked(asked.dates)
    return recurrence.starts(window(event)[0], event.timezone, asked.rule())


@bp.get("/series")
@requires(Action.READ)
@bp.output(series_schemas.AllSeries)
def listing() -> series_schemas.AllSeries:
    """List the organisation's series; their events: /api/events?recurrence_group_id=…"""
    with parts().database.reading() as session:
        found = queries.all_series(session, organisation())
    return series_schemas.AllSeries(items=[series_schemas.SeriesView.of(each) for each in found])


@bp.delete("/events/<event_id>")
@requires(Action.CHANGE_STATUS)
@bp.input(schemas.Why)
@bp.output(series_schemas.Gone)
def delete(event_id: str, json_data: schemas.Why) -> series_schemas.Gone:
    """Delete a draft on which nothing hangs; what else is over goes into the archive, and the answer says why."""
    with parts().database.writing() as session:
        end = deleting.delete_event(session, organisation(), event_id, deed(), reason=json_data.reason)
    return series_schemas.Gone(deleted=end.gone, archived=not end.gone, message=end.message, uses=end.uses)
