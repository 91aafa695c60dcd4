"""The page of conflicting scans, and the form that resolves one with a note."""

from __future__ import annotations

from flask import redirect, request, url_for
from werkzeug.wrappers import Response as WerkzeugResponse

from sync_server.accounts import queries as accounts
from sync_server.admin.page import bp, current_organisation, page, render_page
from sync_server.devices import queries as devices
from sync_server.events import queries as events
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, current_principal
from sync_server.scans import gate_decisions, queries, resolving
from sync_server.scans.event_history import ticket_numbers


@bp.get("/events/<event_id>/conflicts")
@page()
def conflicts(event_id: str) -> str:
    """Open conflicts, most severe first; with `all`, resolved ones too."""
    everything = request.args.get("all") == "1"
    find = queries.all_conflicts if everything else queries.open_conflicts
    with parts().database.reading() as session:
        event = events.event(session, current_organisation(), event_id)
        rows = find(session, event.key)
        shown = {
            "names": devices.names(session, current_organisation()),
            "gates": {gate.number: gate.code for gate in events.gate_rows(session, event)},
            "decisions": gate_decisions.of_event(session, event.key),
            "supervisors": {row.number: row.name for row in accounts.supervisors(session, current_organisation())},
            "numbers": ticket_numbers(session, event.key, {row.ticket for row in rows}),
        }
    return render_page("door/conflicts.html", event=event, conflicts=rows, everything=everything, **shown)


@bp.post("/conflicts/<conflict_id>/resolve")
@page(Action.RESOLVE_CONFLICTS)
def resolve(conflict_id: str) -> WerkzeugResponse:
    """Resolve a conflict with a note."""
    with parts().database.writing() as session:
        note, who = request.form.get("note", "")[:2000], current_principal().name
        row = resolving.resolve(session, current_organisation(), conflict_id, note, context(), by=who)
        event_id = row.event_id
    return redirect(url_for("admin.conflicts", event_id=event_id))
