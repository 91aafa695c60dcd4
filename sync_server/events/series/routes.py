"""/api/events/…/copy, …/series, /api/series, and deleting events."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response

from sync_server.events import queries, schemas
from sync_server.events.lifecycle import deleting
from sync_server.events.series import copying, recurrence, series_schemas
from sync_server.events.snapshot_rows import window
from sync_server.plumbing.api.idempotency import run_once
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import context, organisation, requires

bp = APIBlueprint("series", __name__, tag="Series of events")


@bp.post("/events/<event_id>/copy")
@requires(Action.EDIT_EVENTS)
@bp.input(series_schemas.CopyOf)
@bp.output(schemas.EventView, status_code=201)
def copy(event_id: str, json_data: series_schemas.CopyOf) -> Response:
    """Copy an event to another date, as a draft with nothing sold."""

    def write(session: Any) -> dict[str, Any]:
        request = copying.CopyRequest(**json_data.model_dump())
        row = copying.copy_event(session, organisation(), event_id, request, context())
        return schemas.EventView.of(row, parts().clock()).model_dump(mode="json")

    return run_once(write)


@bp.post("/events/<event_id>/series")
@requires(Action.EDIT_EVENTS)
@bp.input(series_schemas.NewSeries)
@bp.output(series_schemas.SeriesMade, status_code=201)
def repeat(event_id: str, json_data: series_schemas.NewSeries) -> Response:
    """Create up to a hundred copies of an event at once, by a rule or by dates: all of them or none."""

    def write(session: Any) -> dict[str, Any]:
        starts = _starts(session, event_id, json_data)
        group, rows = copying.repeat_event(session, organisation(), event_id, starts, context())
        items = [schemas.EventView.of(row, parts().clock()) for row in rows]
        return series_schemas.SeriesMade(recurrence_group_id=group, items=items).model_dump(mode="json")

    return run_once(write)


def _starts(session: Any, event_id: str, body: series_schemas.NewSeries) -> list[int]:
    event = queries.event(session, organisation(), event_id)
    if body.dates is not None:
        return recurrence.validated_dates(body.dates)
    return recurrence.starts(window(event)[0], event.timezone, body.rule())


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
    """Delete a draft on which nothing depends; other drafts and events that are over are archived, with the reason."""
    with parts().database.writing() as session:
        result = deleting.delete_event(session, organisation(), event_id, context(), reason=json_data.reason)
    return series_schemas.Gone(
        deleted=result.deleted, archived=not result.deleted, message=result.message, uses=result.uses
    )
