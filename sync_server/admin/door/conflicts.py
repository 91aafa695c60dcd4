"""The page of conflicting scans, and the form that resolves one with a note."""

from __future__ import annotations

from collections.abc import Mapping

from flask import redirect, request, url_for
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import InvalidRequest
from sync_server.accounts import queries as accounts
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page, render_page
from sync_server.devices import queries as devices
from sync_server.events import queries as events
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, current_principal
from sync_server.scans import gate_decisions, queries, resolving
from sync_server.scans.event_history import ticket_numbers

Page = str | tuple[str, int] | WerkzeugResponse


@bp.get("/events/<event_id>/conflicts")
@page()
def conflicts(event_id: str) -> str:
    """Open conflicts, most severe first; with `all`, resolved ones too."""
    return _conflicts(event_id, {})


def _conflicts(event_id: str, problems: Mapping[str, str]) -> str:
    """With what is wrong with a note, by the conflict that it is about."""
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
    return render_page(
        "door/conflicts.html", event=event, conflicts=rows, everything=everything, problems=problems, **shown
    )


@bp.post("/conflicts/<conflict_id>/resolve")
@page(Action.RESOLVE_CONFLICTS)
def resolve(conflict_id: str) -> Page:
    """Resolve a conflict with a note."""
    here, note, who = current_organisation(), forms.text("note", 2_000), current_principal().name
    with parts().database.reading() as session:
        event_id = queries.conflict(session, here, conflict_id).event_id
    try:
        with parts().database.writing() as session:
            resolving.resolve(session, here, conflict_id, note, context(), by=who)
    except InvalidRequest as error:
        return _conflicts(event_id, {conflict_id: error.message}), error.status
    return redirect(url_for("admin.conflicts", event_id=event_id))
