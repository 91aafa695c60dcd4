"""/api/events/…/venue and …/replacement: another venue, or another event instead."""

from __future__ import annotations

from apiflask import APIBlueprint

from sync_server.events import queries, schemas
from sync_server.events.lifecycle import replacing
from sync_server.events.relocation import moving, relocation_schemas
from sync_server.events.views import event_view
from sync_server.plumbing.api.edits import check_unchanged
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires

bp = APIBlueprint("event_places", __name__, url_prefix="/events/<event_id>", tag="Venue and replacement of events")


@bp.post("/venue")
@requires(Action.EDIT_EVENTS)
@bp.input(relocation_schemas.NewEventVenue)
@bp.output(schemas.EventView)
def move(event_id: str, json_data: relocation_schemas.NewEventVenue) -> schemas.EventView:
    """Move an event to another venue; once tickets are sold, the first response lists the consequences."""
    request = moving.MoveRequest(json_data.venue_id, json_data.reason, json_data.consent)
    with parts().database.writing() as session:
        row = moving.move(session, organisation(), event_id, request, context(), sealer=parts().sealer)
        return event_view(session, row, parts().clock())


@bp.put("/replacement")
@requires(Action.CALL_OFF)
@bp.input(relocation_schemas.Replacement)
@bp.output(schemas.EventView)
def replace(event_id: str, json_data: relocation_schemas.Replacement) -> schemas.EventView:
    """Name the event that replaces a postponed or cancelled one; null removes the link."""
    with parts().database.writing() as session:
        check_unchanged(
            lambda: event_view(session, queries.event(session, organisation(), event_id, lock=True), parts().clock())
        )
        row = replacing.replace(
            session, organisation(), event_id, json_data.event_id, context(), reason=json_data.reason
        )
        return event_view(session, row, parts().clock())
