"""The page of what gates scanned last."""

from __future__ import annotations

from typing import Final

from sync_server.admin.page import bp, current_organisation, page, render_page
from sync_server.devices import queries as devices
from sync_server.events import queries
from sync_server.plumbing.parts import parts
from sync_server.scans import queries as scans
from sync_server.scans.event_history import ticket_numbers

PAGE_SIZE: Final = 100


@bp.get("/events/<event_id>/scans")
@page()
def event_scans(event_id: str) -> str:
    """The latest scans uploaded by gates."""
    with parts().database.reading() as session:
        row = queries.event(session, current_organisation(), event_id)
        rows = scans.recent(session, row.key, PAGE_SIZE)
        names = devices.names(session, current_organisation())
        gates = {gate.number: gate.code for gate in queries.gate_rows(session, row)}
        numbers = ticket_numbers(session, row.key, {scan.ticket for scan in rows})
    return render_page("door/scans.html", event=row, scans=rows, names=names, gates=gates, numbers=numbers)
