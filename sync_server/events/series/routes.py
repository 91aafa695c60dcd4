"""/api/events/…/copy, …/series, /api/series, and deleting events."""

from __future__ import annotations

from apiflask import APIBlueprint
from sqlalchemy.orm import Session

from sync_server.events import queries, schemas, series_queries
from sync_server.events.lifecycle import deleting
from sync_server.events.series import copying, recurrence, series_schemas
from sync_server.events.snapshot_rows import window
from sync_server.events.views import event_view, event_views
from sync_server.plumbing.api.idempotency import once
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires

bp = APIBlueprint("series", __name__, tag="Series of events")


@bp.post("/events/<event_id>/copy")
@requires(Action.EDIT_EVENTS)
@bp.input(series_schemas.CopyOf)
@bp.output(schemas.EventView, status_code=201)
@once
def copy(session: Session, event_id: str, json_data: series_schemas.CopyOf) -> schemas.EventView:
    """Copy an event to another date, as a draft with nothing sold."""
    request = copying.CopyRequest(**json_data.model_dump())
    row = copying.copy_event(session, organisation(), event_id, request, context())
    return event_view(session, row, parts().clock())


@bp.post("/events/<event_id>/series")
@requires(Action.EDIT_EVENTS)
@bp.input(series_schemas.NewSeries)
@bp.output(series_schemas.SeriesMade, status_code=201)
@once
def repeat(session: Session, event_id: str, json_data: series_schemas.NewSeries) -> series_schemas.SeriesMade:
    """Create up to a hundred copies of an event at once, by a rule or by dates: all of them or none."""
    starts = _starts(session, event_id, json_data)
    group, rows = copying.repeat_event(session, organisation(), event_id, starts, context())
    items = event_views(session, rows, parts().clock())
    return series_schemas.SeriesMade(recurrence_group_id=group, items=items)


def _starts(session: Session, event_id: str, body: series_schemas.NewSeries) -> list[int]:
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
        return series_schemas.AllSeries.of_all(series_queries.all_series(session, organisation()))


@bp.delete("/events/<event_id>")
@requires(Action.CHANGE_STATUS)
@bp.input(schemas.Why)
@bp.output(series_schemas.Gone)
def delete(event_id: str, json_data: schemas.Why) -> series_schemas.Gone:
    """Delete a draft on which nothing depends; other drafts and events that are over are archived, with the reason."""
    with parts().database.writing() as session:
        result = deleting.delete_event(session, organisation(), event_id, context(), reason=json_data.reason)
    return series_schemas.Gone.of(result, archived=not result.deleted)
