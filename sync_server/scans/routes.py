"""/api: scans and conflicts of an event, and what waits in quarantine."""

from __future__ import annotations

from apiflask import APIBlueprint

from sync_server.devices import queries as devices
from sync_server.events import queries as events
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, current_principal, organisation, requires
from sync_server.scans import alarms, gaps, gate_decisions, quarantine, queries, resolving, schemas

bp = APIBlueprint("scans", __name__, url_prefix="/api", tag="Scans")


@bp.get("/events/<event_id>/scans")
@requires(Action.READ)
@bp.input(schemas.ScansQuery, location="query")
@bp.output(schemas.ScansOut)
def scans(event_id: str, query_data: schemas.ScansQuery) -> schemas.ScansOut:
    """List the latest scans of an event, newest first."""
    with parts().database.reading() as session:
        event = events.details_in_tables(session, organisation(), event_id)
        rows = queries.recent(session, event.key, query_data.limit, query_data.chosen())
    return schemas.ScansOut(items=[schemas.scan_out(row) for row in rows])


@bp.get("/events/<event_id>/conflicts")
@requires(Action.READ)
@bp.input(schemas.ConflictsQuery, location="query")
@bp.output(schemas.ConflictsOut)
def conflicts(event_id: str, query_data: schemas.ConflictsQuery) -> schemas.ConflictsOut:
    """List the scan conflicts of an event, gravest first."""
    find = queries.all_conflicts if query_data.all else queries.open_conflicts
    with parts().database.reading() as session:
        event = events.details_in_tables(session, organisation(), event_id)
        rows = find(session, event.key)
    return schemas.ConflictsOut(items=[schemas.conflict_out(row, event.number) for row in rows])


@bp.get("/events/<event_id>/decisions")
@requires(Action.READ)
@bp.output(schemas.DecisionsOut)
def decisions(event_id: str) -> schemas.DecisionsOut:
    """List supervisors' decisions at gates: doors opened or closed on a device, the venue emptied, counts corrected."""
    with parts().database.reading() as session:
        event = events.details_in_tables(session, organisation(), event_id)
        decided = gate_decisions.of_event(session, event.key)
    return schemas.DecisionsOut(items=[schemas.decision_out(one) for one in reversed(decided)])


@bp.post("/conflicts/<conflict_id>/resolve")
@requires(Action.RESOLVE_CONFLICTS)
@bp.input(schemas.WithNote)
@bp.output(schemas.ConflictOut)
def resolve(conflict_id: str, json_data: schemas.WithNote) -> schemas.ConflictOut:
    """Resolve a conflict with a note."""
    with parts().database.writing() as session:
        who = current_principal().name
        row = resolving.resolve(session, organisation(), conflict_id, json_data.note, context(), by=who)
        return schemas.conflict_out(row, events.numbers(session, organisation(), [row.event_id])[row.event_id])


@bp.get("/devices/<device_id>/journal")
@requires(Action.READ)
@bp.output(schemas.JournalOut)
def journal(device_id: str) -> schemas.JournalOut:
    """The state of a device's journal: what is stored, missing, quarantined and declared lost."""
    return _journal(device_id)


def _journal(device_id: str) -> schemas.JournalOut:
    with parts().database.reading() as session:
        device = devices.get(session, organisation(), device_id)
        state = queries.journal_state(session, organisation(), device.number)
        lost = gaps.lost(session, organisation(), device.number).get(device.number)
    return schemas.journal_out(state, lost)


@bp.post("/devices/<device_id>/journal/alarm/acknowledge")
@requires(Action.RESOLVE_CONFLICTS)
@bp.input(schemas.WithNote)
@bp.output(schemas.JournalOut)
def acknowledge_alarm(device_id: str, json_data: schemas.WithNote) -> schemas.JournalOut:
    """Lower the alarm of a device's journal, once the second machine is switched off; its gate is told no longer."""
    with parts().database.writing() as session:
        alarms.acknowledge(session, organisation(), device_id, context(), note=json_data.note)
    return _journal(device_id)


@bp.post("/devices/<device_id>/late-entries/accept")
@requires(Action.RESOLVE_CONFLICTS)
@bp.input(schemas.WithNote)
@bp.output(schemas.AcceptedOut)
def accept_late(device_id: str, json_data: schemas.WithNote) -> schemas.AcceptedOut:
    """Accept the entries that a revoked device wrote after its revocation."""
    with parts().database.writing() as session:
        accepted = quarantine.accept_late(
            session, organisation(), device_id, context(), note=json_data.note, sealer=parts().sealer
        )
    return schemas.AcceptedOut(accepted=accepted)
