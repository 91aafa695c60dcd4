"""The page with an event's seat map."""

from __future__ import annotations

from sync_server.admin.page import bp, current_organisation, page, render_page
from sync_server.events import queries
from sync_server.events.snapshot_rows import days
from sync_server.plumbing.parts import parts
from sync_server.seating import queries as seating


@bp.get("/events/<event_id>/seats")
@page()
def event_seats(event_id: str) -> str:
    """The page around the seat map, which its script draws and keeps up to date."""
    with parts().database.reading() as session:
        row = queries.event(session, current_organisation(), event_id)
        has_layout = seating.find_event_layout(session, current_organisation(), event_id) is not None
    return render_page("door/seats.html", event=row, has_layout=has_layout, days=days(row))
