"""/api/events/…/layout/zones/…/guests/import: guest lists in files; large ones become imports."""

from __future__ import annotations

from typing import Final

from apiflask import APIBlueprint
from flask import Response, request

from sync_server.events import queries as events
from sync_server.plumbing.api.idempotency import repeatable, run_once
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires
from sync_server.seating.imports import guest_importing
from sync_server.seating.imports.import_routes import start_parts
from sync_server.seating.imports.queue import GuestUpload
from sync_server.seating.zone_access import guest_list_schemas as schemas
from sync_server.seating.zone_access import guest_lists
from sync_server.seating.zone_access.entitlements import GuestKey
from sync_server.seating.zone_access.guest_lists import ZoneList

DIRECT_GUESTS: Final = 1_000
"""Guests that are stored while the sender waits, in one transaction."""

bp = APIBlueprint(
    "guest_imports", __name__, url_prefix="/events/<event_id>/layout/zones/<zone_id>/guests", tag="Guest lists"
)


@bp.post("/import")
@requires(Action.EDIT_EVENTS)
@bp.output(schemas.GuestsChanged, status_code=201)
@bp.doc(
    description=(
        "The body is a CSV file with one or more of the columns email, customer and code. A file with mistakes is "
        "refused as a whole. One with more than a thousand guests becomes an import: 202, and `Location` says where "
        "to look at it."
    )
)
@repeatable
def read_file(event_id: str, zone_id: str) -> Response:
    """Add the guests in a file to the list of a zone."""
    guests = guest_lists.read_csv(request.get_data(cache=True), organisation(), parts().sealer)
    guest_list = ZoneList(organisation(), event_id, zone_id)
    if len({*guests}) > DIRECT_GUESTS:
        return _imported(guest_list, guests)
    return run_once(lambda session: {"changed": guest_lists.add(session, guest_list, guests, context())})


def _imported(guest_list: ZoneList, guests: list[GuestKey]) -> Response:
    with parts().database.reading() as session:
        event = events.event(session, guest_list.organisation_id, guest_list.event_id)
        guest_lists.require_room(session, guest_list, guests)
    upload = GuestUpload(guest_list, event.venue_id, len({*guests}))
    return start_parts(upload, guest_importing.parts_of(guests))
