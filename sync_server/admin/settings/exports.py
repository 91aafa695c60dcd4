"""Exports of an event to take away: each table as CSV and as a workbook, streamed while it is read."""

from __future__ import annotations

from typing import Final

from flask import request
from sqlalchemy.orm import Session

from sync_server.admin.page import bp, current_organisation, may, page
from sync_server.admin.settings.frame import render_settings
from sync_server.checkout import queries as orders
from sync_server.events import queries as events
from sync_server.events.queries import Event, EventFilter
from sync_server.exports.tables import TABLES
from sync_server.plumbing.parts import parts

_ABOUT_PEOPLE: Final = frozenset({"orders", "payments", "attendees"})
OFFERED: Final = 20


@bp.get("/settings/exports")
@page()
def exports_page() -> str:
    """The tables of the event that was chosen, or the events to choose from."""
    chosen = request.args.get("event", "")[:36]
    with parts().database.reading() as session:
        event = events.event(session, current_organisation(), chosen) if chosen else None
        rows = _rows(session, event) if event else {}
        found = [] if event else _offered(session)
    tables = [name for name in TABLES if name not in _ABOUT_PEOPLE or may("read_orders")]
    return render_settings("exports.html", "exports", event=event, events=found, tables=tables, rows=rows)


def _offered(session: Session) -> list[Event]:
    words = request.args.get("q", "").strip()[:100]
    wanted = EventFilter(archived=True, newest_first=True, search=words)
    return list(events.events(session, current_organisation(), wanted, limit=OFFERED, after=None).items)


def _rows(session: Session, event: Event) -> dict[str, int]:
    """How many rows a table will have, where that is known beforehand: what is done is shown of it."""
    sold = orders.count_at_event(session, event.organisation_id, event.id)
    return {"orders": sold, "tickets": event.tickets_issued, "attendees": event.tickets_issued}
