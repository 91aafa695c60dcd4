"""Pages of events: the list, and one event with its counters."""

from __future__ import annotations

from typing import Final

from flask import request
from sqlalchemy.orm import Session

from shared.lifecycle import OVER, EventStatus
from sync_server.admin.page import bp, current_organisation, may, page, render_page
from sync_server.admin.readiness import checks
from sync_server.admin.rooms import room, rooms
from sync_server.admin.stations import stations
from sync_server.archives import queries as archives
from sync_server.cancellations import queries as cancellations
from sync_server.devices import queries as devices
from sync_server.events import queries
from sync_server.events.queries import EventFilter
from sync_server.events.snapshot_rows import days
from sync_server.live.event_counters import event_counters
from sync_server.plumbing.api.pagination import Page
from sync_server.plumbing.parts import parts
from sync_server.scans import queries as scans
from sync_server.tickets import queries as tickets

TILES: Final = 24
_COMING: Final = tuple(status.value for status in EventStatus if status.value not in OVER)
_OVER: Final = ("ended", "cancelled", "archived")
_SHOWN: Final = {
    "": EventFilter(statuses=_COMING),
    "draft": EventFilter(statuses=("draft",)),
    "over": EventFilter(statuses=_OVER, newest_first=True),
    "all": EventFilter(archived=True, newest_first=True),
}


@bp.get("/events")
@page()
def events() -> str:
    """The organisation's events as tiles: what is coming first."""
    with parts().database.reading() as session:
        found = _events(session)
        conflicts = scans.open_conflict_counts(session, current_organisation())
        shown = {"conflicts": conflicts, "rooms": rooms(session, found.items)}
    return render_page("events.html", events=found.items, next=found.next, **shown)


def _events(session: Session) -> Page[queries.Event]:
    words = request.args.get("q", "").strip()[:100]
    wanted = EventFilter(archived=True, newest_first=True, search=words) if words else None
    wanted = wanted or _SHOWN.get(request.args.get("show", ""), _SHOWN[""])
    return queries.events(session, current_organisation(), wanted, limit=TILES, after=request.args.get("after"))


@bp.get("/events/<event_id>")
@page()
def event(event_id: str) -> str:
    """One event: its life, and what a draft lacks, or what is sold and who is inside."""
    with parts().database.reading() as session:
        row = queries.event(session, current_organisation(), event_id)
        types = tickets.ticket_types(session, *row.key)
        quantity = sum(kind.quantity for kind in types)
        shown = _prepared(session, row) if row.status == EventStatus.DRAFT else _counted(session, row, quantity)
    return render_page("event.html", event=row, days=days(row), types=types, life=stations(row), **shown)


def _prepared(session: Session, row: queries.Event) -> dict[str, object]:
    return {"ready": checks(session, row, devices=len(devices.last_seen_at_event(session, row.key)))}


def _counted(session: Session, row: queries.Event, quantity: int) -> dict[str, object]:
    return {
        "board": event_counters(session, queries.head_of(row), row.tickets_issued, parts().clock()),
        "room": room(row, quantity),
        "zones": queries.zones(session, *row.key),
        "called_off": _called_off(session, row),
        "archive": archives.find(session, row.key) if row.put_away_at is not None else None,
    }


def _called_off(session: Session, row: queries.Event) -> bool:
    """Whether it was said what buyers of an event get that does not take place as planned."""
    moved = row.cancelled_at is not None or row.status == "postponed" or row.rescheduled_at is not None
    return moved and may("read_orders") and cancellations.find(session, row.key) is not None
