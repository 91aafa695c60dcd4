"""/api: ticket types, tickets and their codes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apiflask import APIBlueprint
from flask import Response
from sqlalchemy.orm import Session

from shared.wire.snapshot import TicketState
from sync_server.events import queries as events
from sync_server.holds import ordering
from sync_server.plumbing.api import answers
from sync_server.plumbing.api.edits import check_unchanged, tagged
from sync_server.plumbing.api.idempotency import once, repeatable, run_once
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, current_principal, organisation, requires, search
from sync_server.seating import event_layouts
from sync_server.tickets import queries, schemas, service
from sync_server.tickets.endpoints.code_responses import CODE_TYPES, code_response, code_view
from sync_server.tickets.endpoints.key_routes import bp as key_bp
from sync_server.tickets.endpoints.membership_routes import bp as membership_bp
from sync_server.tickets.endpoints.seating_metrics_routes import bp as seating_metrics_bp
from sync_server.tickets.issuance.bearers import Issuer
from sync_server.tickets.keys import codes
from sync_server.tickets.models import TicketTypeRecord
from sync_server.tickets.types import type_service

bp = APIBlueprint("tickets", __name__, url_prefix="/api", tag="Tickets")
bp.register_blueprint(key_bp)
bp.register_blueprint(seating_metrics_bp)
bp.register_blueprint(membership_bp)


@bp.post("/events/<event_id>/ticket-types")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.NewTicketType)
@bp.output(schemas.TicketTypeView, status_code=201)
@once
def create_type(session: Session, event_id: str, json_data: schemas.NewTicketType) -> schemas.TicketTypeView:
    """Create a ticket type."""
    row = type_service.create_type(session, organisation(), event_id, json_data.model_dump(), context())
    return _type_view(session, row)


@bp.get("/events/<event_id>/ticket-types")
@requires(Action.READ)
@bp.output(schemas.TicketTypesView)
def ticket_types(event_id: str) -> schemas.TicketTypesView:
    """List the ticket types of an event."""
    with parts().database.reading() as session:
        taken = type_service.taken_by_day(session, events.event(session, organisation(), event_id))
        found = queries.ticket_types(session, organisation(), event_id)
    return schemas.TicketTypesView(items=[schemas.type_view(row, taken(row.number)) for row in found])


@bp.patch("/events/<event_id>/ticket-types/<int:number>")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.ChangeTicketType)
@bp.output(schemas.TicketTypeView)
def change_type(event_id: str, number: int, json_data: schemas.ChangeTicketType) -> schemas.TicketTypeView:
    """Change a ticket type; only the fields sent are changed."""
    with parts().database.writing() as session:
        check_unchanged(lambda: _type_view(session, _locked_type(session, event_id, number)))
        row = type_service.change_type(
            session, organisation(), event_id, number, changes=json_data.changes(), context=context()
        )
        return tagged(_type_view(session, row))


def _type_view(session: Session, row: TicketTypeRecord) -> schemas.TicketTypeView:
    taken = type_service.taken_by_day(session, events.event(session, row.organisation_id, row.event_id))
    return schemas.type_view(row, taken(row.number))


def _locked_type(session: Session, event_id: str, number: int) -> TicketTypeRecord:
    events.event(session, organisation(), event_id, lock=True)
    return queries.ticket_type(session, organisation(), event_id, number)


@bp.post("/events/<event_id>/tickets")
@requires(Action.ISSUE_TICKETS)
@bp.input(schemas.IssueTickets)
@bp.output(schemas.IssuedView, status_code=201)
@repeatable
def issue(event_id: str, json_data: schemas.IssueTickets) -> Response:
    """Issue tickets: all of them or none. Send an Idempotency-Key, so that the request can be repeated safely."""

    with parts().database.reading() as session:
        # Outside the write transaction, which may have to wait.
        event_layouts.require_not_moving(session, organisation(), event_id)

    def write(session: Session) -> dict[str, Any]:
        ordering.require_unordered(session, organisation(), json_data.holds)
        joins = json_data.joins
        joined = queries.joined_ticket(session, organisation(), event_id, joins) if joins else queries.JoinedTicket()
        request = json_data.issue_request(_issuer(session), joined)
        made = service.issue(session, organisation(), event_id, request, context())
        return {"items": [schemas.ticket_view(row) for row in made]}

    return run_once(write)


def _issuer(session: Session) -> Issuer:
    principal = current_principal()
    roles = frozenset(role for role in (principal.role, principal.platform_role) if role)
    return Issuer(session, organisation(), roles, parts().sealer, parts().clock())


@bp.get("/events/<event_id>/tickets")
@requires(Action.READ)
@bp.input(schemas.TicketsQuery, location="query")
@bp.output(schemas.TicketsView)
@search("state", "limit")
def tickets(event_id: str, query_data: schemas.TicketsQuery) -> schemas.TicketsView:
    """List the tickets of an event in order of issue."""
    state = None if query_data.state is None else TicketState[query_data.state.upper()]
    filters = queries.TicketFilter(query_data.ticket_type, state, query_data.number, query_data.confirmation_code)
    with parts().database.reading() as session:
        events.details_in_tables(session, organisation(), event_id)
        page = queries.tickets(
            session, organisation(), event_id, filters, limit=query_data.limit, after=query_data.after
        )
    return schemas.TicketsView(items=[schemas.ticket_view(row) for row in page.items], next=page.next)


@bp.get("/tickets/<ticket_id>")
@requires(Action.READ)
@bp.output(schemas.TicketView)
def show(ticket_id: str) -> schemas.TicketView:
    """Show a ticket."""
    with parts().database.reading() as session:
        return schemas.ticket_view(queries.ticket(session, organisation(), queries.internal_id(ticket_id)))


@bp.get("/tickets/<ticket_id>/code")
@requires(Action.ISSUE_TICKETS)
@bp.input(schemas.CodeQuery, location="query")
@bp.output(schemas.CodeView)
@bp.doc(responses=answers.files("The code in the form that was asked for", *CODE_TYPES))
def code(ticket_id: str, query_data: schemas.CodeQuery) -> Response:
    """Show the code of a ticket as JSON, text, SVG or PNG. Anyone who has the code can enter."""
    with parts().database.reading() as session:
        row = queries.ticket(session, organisation(), queries.internal_id(ticket_id))
        return code_response(session, row, parts().sealer, query_data.format)


@bp.get("/events/<event_id>/codes")
@requires(Action.ISSUE_TICKETS)
@bp.input(schemas.CodesQuery, location="query")
@bp.output(schemas.CodesView)
def all_codes(event_id: str, query_data: schemas.CodesQuery) -> Response:
    """List the codes of an event's valid tickets, for printing. Anyone who has a code can enter."""
    filters = queries.TicketFilter(query_data.ticket_type, TicketState.VALID)
    with parts().database.reading() as session:
        events.event(session, organisation(), event_id)
        page = queries.tickets(
            session, organisation(), event_id, filters, limit=query_data.limit, after=query_data.after
        )
        texts = codes.code_texts(session, page.items, parts().sealer)
    view = schemas.CodesView(items=[code_view(*pair) for pair in zip(page.items, texts, strict=True)], next=page.next)
    response = Response(view.model_dump_json(), content_type="application/json")
    response.headers["Cache-Control"] = "no-store"
    return response


def _change_route(path: str, change: Callable[..., Any], summary: str) -> Callable[..., schemas.TicketView]:
    """The route of one change of a ticket."""

    def view(ticket_id: str, json_data: schemas.TicketReason) -> schemas.TicketView:
        with parts().database.writing() as session:
            id = queries.internal_id(ticket_id)
            return schemas.ticket_view(change(session, organisation(), id, context(), reason=json_data.reason))

    view.__name__ = path
    view.__doc__ = summary
    guarded = requires(Action.CHANGE_TICKETS)(bp.input(schemas.TicketReason)(bp.output(schemas.TicketView)(view)))
    return bp.post(f"/tickets/<ticket_id>/{path}")(guarded)


cancel = _change_route("cancel", service.cancel, "Cancel a ticket for good; its seat is released.")
block = _change_route("block", service.block, "Block a ticket that is lost, stolen or disputed.")
unblock = _change_route("unblock", service.unblock, "Make a blocked ticket valid again.")
settle = _change_route("settle", service.settle, "Mark an unpaid ticket as paid.")
reissue = _change_route("reissue", service.reissue, "Give a ticket a new code; the old one becomes invalid.")
