"""/api/events/…/layout/zones/…/guests: the guest lists of an event's zones."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response

from sync_server.plumbing.api.idempotency import repeatable, run_once
from sync_server.plumbing.api.pagination import PageQuery
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires
from sync_server.seating.zone_access import guest_list_schemas as schemas
from sync_server.seating.zone_access import guest_lists
from sync_server.seating.zone_access.entitlements import GuestKey
from sync_server.seating.zone_access.guest_lists import ZoneList

bp = APIBlueprint(
    "guest_lists", __name__, url_prefix="/events/<event_id>/layout/zones/<zone_id>/guests", tag="Guest lists"
)


@bp.get("")
@requires(Action.READ)
@bp.input(PageQuery, location="query")
@bp.output(schemas.ZoneGuests)
def listing(event_id: str, zone_id: str, query_data: PageQuery) -> schemas.ZoneGuests:
    """Show the guest list of a zone."""
    guest_list = ZoneList(organisation(), event_id, zone_id)
    with parts().database.reading() as session:
        page = guest_lists.guests(session, guest_list, limit=query_data.limit, after=query_data.after)
        return schemas.ZoneGuests.of(page)


@bp.post("")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.Guests)
@bp.output(schemas.GuestsChanged, status_code=201)
@repeatable
def add(event_id: str, zone_id: str, json_data: schemas.Guests) -> Response:
    """Add guests to the list of a zone."""
    return _add(event_id, zone_id, _keys(json_data))


def _keys(body: schemas.Guests) -> list[GuestKey]:
    return [guest.known_as(organisation(), parts().sealer) for guest in body.guests]


def _add(event_id: str, zone_id: str, keys: list[GuestKey]) -> Response:
    guest_list = ZoneList(organisation(), event_id, zone_id)
    return run_once(lambda session: {"changed": guest_lists.add(session, guest_list, keys, context())})


@bp.post("/remove")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.Guests)
@bp.output(schemas.GuestsChanged)
def remove(event_id: str, zone_id: str, json_data: schemas.Guests) -> schemas.GuestsChanged:
    """Remove guests from the list of a zone; their tickets stay valid."""
    with parts().database.writing() as session:
        guest_list = ZoneList(organisation(), event_id, zone_id)
        return schemas.GuestsChanged(changed=guest_lists.remove(session, guest_list, _keys(json_data), context()))
