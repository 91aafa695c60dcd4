"""Pages of conflicts: what contradicts itself, where, when, how sure; and the note that settles it."""

from __future__ import annotations

from flask import redirect, request, url_for
from werkzeug.wrappers import Response as Answer

from sync_server.accounts import queries as accounts
from sync_server.admin.page import bp, page, show, whose
from sync_server.devices import queries as devices
from sync_server.events import queries as events
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import current_actor, current_principal
from sync_server.scans import decided, queries, settling
from sync_server.scans.rows_at import ticket_numbers


@bp.get("/events/<event_id>/conflicts")
@page()
def conflicts(event_id: str) -> str:
    """What somebody must look at, gravest first; with `all`, the settled ones too."""
    everything = request.args.get("all") == "1"
    find = queries.all_conflicts if everything else queries.open_conflicts
    with parts().database.reading() as session:
        event = events.event(session, whose(), event_id)
        rows = find(session, whose(), event.number)
        told = {
            "names": devices.names(session, whose()),
            "gates": {gate.number: gate.code for gate in events.gate_rows(session, event)},
            "decisions": decided.of_event(session, whose(), event.number),
            "supervisors": {row.number: row.name for row in accounts.supervisors(session, whose())},
            "numbers": ticket_numbers(session, event.number, {row.ticket for row in rows}),
        }
    return show("conflicts.html", event=event, conflicts=rows, everything=everything, **told)


@bp.post("/conflicts/<conflict_id>/resolve")
@page(Action.RESOLVE_CONFLICTS)
def resolve(conflict_id: str) -> Answer:
    """Settle one with a note."""
    with parts().database.writing() as session:
        row = settling.resolve(
            session,
            whose(),
            conflict_id,
            request.form.get("note", "")[:2000],
            actor=current_actor(),
            by=current_principal().name,
            now=parts().clock(),
        )
        event = events.facts_by_number(session, row.event)
    return redirect(url_for("admin.conflicts", event_id=event.id) if event else url_for("admin.events"))
