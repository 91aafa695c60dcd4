"""/api/events/…/layout/zones/…/guests: the lists of guests of an event's zones."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response, request
from sqlalchemy.orm import Session

from sync_server.plumbing.once import once
from sync_server.plumbing.pages import PageQuery
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import deed, organisation, requires
from sync_server.seating import guest_list_schemas as shapes
from sync_server.seating import guest_lists
from sync_server.seating.access import Name
from sync_server.seating.guest_lists import ListOf

bp = APIBlueprint(
    "guest_lists", __name__, url_prefix="/events/<event_id>/layout/zones/<zone_id>/guests", tag="Guest lists"
)


@bp.get("")
@requires(Action.READ)
@bp.input(PageQuery, location="query")
@bp.output(shapes.ZoneGuests)
def listing(event_id: str, zone_id: str, query_data: PageQuery) -> shapes.ZoneGuests:
    """List who is on the list of a zone, as far as that is kept."""
    where = ListOf(organisation(), event_id, zone_id)
    with parts().database.reading() as session:
        page = guest_lists.guests(session, where, limit=query_data.limit, after=query_data.after)
    return shapes.ZoneGuests(items=[shapes.ZoneGuest.of(row) for row in page.items], next=page.next)


@bp.post("")
@requires(Action.EDIT_EVENTS)
@bp.input(shapes.Guests)
@bp.output(shapes.GuestsChanged, status_code=201)
def add(event_id: str, zone_id: str, json_data: shapes.Guests) -> Response:
    """Put guests on the list of a zone."""
    return _added(event_id, zone_id, _names(json_data))


@bp.post("/import")
@requires(Action.EDIT_EVENTS)
@bp.output(shapes.GuestsChanged, status_code=201)
@bp.doc(description="The body is a CSV file with one or more of the columns email, customer and code.")
def read_file(event_id: str, zone_id: str) -> Response:
    """Put the guests of a file on the list of a zone; a file with mistakes is refused whole."""
    return _added(event_id, zone_id, guest_lists.read(request.get_data(cache=True), organisation(), parts().sealer))


def _names(said: shapes.Guests) -> list[Name]:
    return [guest.known_as(organisation(), parts().sealer) for guest in said.guests]


def _added(event_id: str, zone_id: str, names: list[Name]) -> Response:
    where = ListOf(organisation(), event_id, zone_id)

    def write(session: Session) -> dict[str, Any]:
        return {"changed": guest_lists.add(session, where, names, deed())}

    return once(write)


@bp.post("/remove")
@requires(Action.EDIT_EVENTS)
@bp.input(shapes.Guests)
@bp.output(shapes.GuestsChanged)
def remove(event_id: str, zone_id: str, json_data: shapes.Guests) -> shapes.GuestsChanged:
    """Take guests off the list of a zone; tickets that they have stay good."""
    with parts().database.writing() as session:
        where = ListOf(organisation(), event_id, zone_id)
        return shapes.GuestsChanged(changed=guest_lists.remove(session, where, _names(json_data), deed()))
