"""Pages of events: the list, one event with its numbers, its scans."""

from __future__ import annotations

from flask import redirect, request, url_for
from werkzeug.wrappers import Response as Answer

from shared.errors import InvalidRequest
from shared.lifecycle import TRANSITIONS, EventStatus
from sync_server.admin.page import bp, may, page, show, whose
from sync_server.devices import queries as devices
from sync_server.events import queries, status
from sync_server.events.rows import days
from sync_server.events.rules import action_for
from sync_server.live.board import board
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import deed, require
from sync_server.scans import queries as scans
from sync_server.scans.rows_at import ticket_numbers
from sync_server.tickets import queries as tickets

ON_ONE_PAGE = 100
STEPS = {
    EventStatus.DRAFT: ("Back to draft", "secondary outline"),
    EventStatus.PUBLISHED: ("Publish", ""),
    EventStatus.LIVE: ("Open the doors", ""),
    EventStatus.ENDED: ("End", "secondary"),
    EventStatus.POSTPONED: ("Postpone", "secondary outline"),
    EventStatus.CANCELLED: ("Cancel", "danger outline"),
    EventStatus.ARCHIVED: ("Archive", "secondary outline"),
}


@bp.get("/events")
@page()
def events() -> str:
    """All events of the organisation by their start."""
    after = request.args.get("after")
    with parts().database.reading() as session:
        found = queries.events(session, whose(), queries.EventFilter(), limit=ON_ONE_PAGE, after=after)
        conflicts = scans.open_conflict_counts(session, whose())
    return show("events.html", events=found.items, next=found.next, conflicts=conflicts)


@bp.get("/events/<event_id>")
@page()
def event(event_id: str) -> str:
    """One event: status, days, tickets, numbers."""
    with parts().database.reading() as session:
        row = queries.event(session, whose(), event_id)
        facts = queries.facts(session, whose(), event_id)
        told = {
            "event": row,
            "days": days(row),
            "tickets": tickets.counts(session, event_id),
            "types": tickets.ticket_types(session, event_id),
            "board": board(session, facts, parts().clock()),
        }
    ways = [step for step in EventStatus if step in TRANSITIONS[EventStatus(row.status)]]
    steps = [(step, *STEPS[step]) for step in ways if may(action_for(step))]
    return show("event.html", **told, steps=steps, stays=not ways)


@bp.post("/events/<event_id>/walk")
@page(Action.CALL_OFF)
def walk(event_id: str) -> Answer:
    """Bring an event into another status."""
    target = request.form.get("target", "")
    if target not in set(EventStatus):
        raise InvalidRequest("There is no such status.", field="target")
    require(action_for(EventStatus(target)))
    with parts().database.writing() as session:
        reason = request.form.get("reason", "")[:1000]
        status.walk(session, whose(), event_id, EventStatus(target), deed(), reason=reason)
    return redirect(url_for("admin.event", event_id=event_id))


@bp.get("/events/<event_id>/scans")
@page()
def event_scans(event_id: str) -> str:
    """The latest scans that gates have delivered."""
    with parts().database.reading() as session:
        row = queries.event(session, whose(), event_id)
        rows = scans.recent(session, whose(), row.number, ON_ONE_PAGE)
        names = devices.names(session, whose())
        gates = {gate.number: gate.code for gate in queries.gate_rows(session, row)}
        numbers = ticket_numbers(session, row.number, {scan.ticket for scan in rows})
    return show("scans.html", event=row, scans=rows, names=names, gates=gates, numbers=numbers)
