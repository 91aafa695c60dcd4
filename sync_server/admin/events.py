"""Pages of events: the list, one event with its counters, and its scans."""

from __future__ import annotations

from flask import redirect, request, url_for
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import InvalidRequest
from shared.lifecycle import TRANSITIONS, EventStatus
from sync_server.admin.page import bp, current_organisation, may, page, render_page
from sync_server.archives import queries as archives
from sync_server.devices import queries as devices
from sync_server.events import queries
from sync_server.events.lifecycle import status
from sync_server.events.rules import action_for
from sync_server.events.snapshot_rows import days
from sync_server.live.event_counters import event_counters
from sync_server.order_mails import queries as mail_queries
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import context, require
from sync_server.scans import queries as scans
from sync_server.scans.event_history import ticket_numbers
from sync_server.tickets import queries as tickets
from sync_server.tickets import ticket_counts

PAGE_SIZE = 100
STATUS_BUTTONS = {
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
    """The organisation's events by start time."""
    after = request.args.get("after")
    with parts().database.reading() as session:
        found = queries.events(session, current_organisation(), queries.EventFilter(), limit=PAGE_SIZE, after=after)
        conflicts = scans.open_conflict_counts(session, current_organisation())
    return render_page("events.html", events=found.items, next=found.next, conflicts=conflicts)


@bp.get("/events/<event_id>")
@page()
def event(event_id: str) -> str:
    """One event: status, days, tickets and counters."""
    with parts().database.reading() as session:
        row = queries.event(session, current_organisation(), event_id)
        facts = queries.details(session, current_organisation(), event_id)
        context = {
            "event": row,
            "days": days(row),
            "tickets": ticket_counts.counts(session, row.key),
            "types": tickets.ticket_types(session, current_organisation(), event_id),
            "board": event_counters(session, facts, parts().clock()),
            "buyers": mail_queries.buyers(parts(), session, row.key),
            "archive": archives.find(session, row.key) if row.put_away_at is not None else None,
        }
    next_statuses = [step for step in EventStatus if step in TRANSITIONS[EventStatus(row.status)]]
    steps = [(step, *STATUS_BUTTONS[step]) for step in next_statuses if may(action_for(step))]
    return render_page("event.html", **context, steps=steps, final=not next_statuses)


@bp.post("/events/<event_id>/walk")
@page(Action.CALL_OFF)
def change_status(event_id: str) -> WerkzeugResponse:
    """Change the status of an event."""
    target = request.form.get("target", "")
    if target not in set(EventStatus):
        raise InvalidRequest("There is no such status.", field="target")
    require(action_for(EventStatus(target)))
    with parts().database.writing() as session:
        reason = request.form.get("reason", "")[:1000]
        status.change_status(session, current_organisation(), event_id, EventStatus(target), context(), reason=reason)
    return redirect(url_for("admin.event", event_id=event_id))


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
    return render_page("scans.html", event=row, scans=rows, names=names, gates=gates, numbers=numbers)
