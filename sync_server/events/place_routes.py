"""/api/events/…/venue and …/replacement: another house, or another evening."""

from __future__ import annotations

from apiflask import APIBlueprint

from sync_server.events import moving, place_schemas, replacing, schemas
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import deed, organisation, require, requires

bp = APIBlueprint("event_places", __name__, url_prefix="/events/<event_id>", tag="Places of events")


@bp.post("/venue")
@requires(Action.EDIT_EVENTS)
@bp.input(place_schemas.NewPlace)
@bp.output(schemas.EventView)
def move(event_id: str, json_data: place_schemas.NewPlace) -> schemas.EventView:
    """Move an event to another venue; once tickets are sold, the first answer says what that means."""
    wish = moving.Wish(json_data.venue_id, json_data.reason, json_data.consent)
    with parts().database.writing() as session:
        row = moving.move(
            session,
            organisation(),
            event_id,
            wish,
            deed(),
            sealer=parts().sealer,
            may_consent=lambda: require(Action.CHANGE_STATUS),
        )
        return schemas.EventView.of(row, parts().clock())


@bp.put("/replacement")
@requires(Action.CALL_OFF)
@bp.input(place_schemas.Replacement)
@bp.output(schemas.EventView)
def replace(event_id: str, json_data: place_schemas.Replacement) -> schemas.EventView:
    """Say which event takes place instead of one that is postponed or cancelled; null: none does."""
    with parts().database.writing() as session:
        row = replacing.replace(session, organisation(), event_id, json_data.event_id, deed(), reason=json_data.reason)
        return schemas.EventView.of(row, parts().clock())
