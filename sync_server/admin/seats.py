"""The page of an event's seats: the house as it stands, to look at only."""

from __future__ import annotations

from sync_server.admin.page import bp, page, show, whose
from sync_server.events import queries
from sync_server.plumbing.parts import parts
from sync_server.seating import queries as seating


@bp.get("/events/<event_id>/seats")
@page()
def event_seats(event_id: str) -> str:
    """The frame of the map; the page's script draws it from the seat map, and follows it."""
    with parts().database.reading() as session:
        row = queries.event(session, whose(), event_id)
        laid_out = seating.maybe_event_layout(session, whose(), event_id) is not None
    return show("seats.html", event=row, laid_out=laid_out)
