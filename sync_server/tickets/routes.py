"""Ticket types, tickets and their codes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apiflask import APIBlueprint
from flask import Response
from sqlalchemy.orm import Session

from shared.snapshot import TicketState
from sync_server.events import queries as events
from sync_server.plumbing.once import once
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import current_principal, deed, organisation, requires
from sync_server.seating import event_layouts
from sync_server.tickets import codes, queries, schemas, service, types
from sync_server.tickets.bearers import Till
from sync_server.tickets.house_routes import bp as house_bp
from sync_server.tickets.key_routes import bp as key_bp
from sync_server.tickets.membership_routes import bp as membership_bp
from sync_server.tickets.models import TicketRecord

bp = APIBlueprint("tickets", __name__, url_prefix="/api", tag="Tickets")
bp.register_blueprint(key_bp)
bp.register_blueprint(house_bp)
bp.register_blueprint(membership_bp)


@bp.post("/events/<event_id>/ticket-types")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.NewTicketType)
@bp.output(schemas.TicketTypeView, status_code=201)
def create_type(event_id: str, json_data: schemas.NewTicketType) -> Response:
    """Make a ticket type."""

    def write(session: Session) -> dict[str, Any]:
        row = types.create_type(session, organisation(), event_id, json_data.model_dump(), deed())
        return schemas.TicketTypeView.of(row).model_dump(mode="json")

    return once(write)


@bp.get("/events/<event_id>/ticket-types")
@requires(Action.READ)
@bp.output(schemas.TicketTypesView)
def ticket_types(event_id: str) -> schemas.TicketTypesView:
    """List the ticket types of an event."""
    with parts().database.reading() as session:
        events.event(session, organisation(), event_id)
        found = queries.ticket_types(session, event_id)
    return schemas.TicketTypesView(items=[schemas.TicketTypeView.of(row) for row in found])


@bp.patch("/events/<event_id>/ticket-types/<int:number>")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.ChangeTicketType)
@bp.output(schemas.TicketTypeView)
def change_type(event_id: str, number: int, json_data: schemas.ChangeTicketType) -> schemas.TicketTypeView:
    """Change a ticket type; only the fields sent are changed."""
    with parts().database.writing() as session:
        row = types.change_type(session, organisation(), event_id, number, changes=json_data.changes(), deed=deed())
        return schemas.TicketTypeView.of(row)


@bp.post("/events/<event_id>/tickets")
@requires(Action.ISSUE_TICKETS)
@bp.input(schemas.IssueTickets)
@bp.output(schemas.IssuedView, status_code=201)
def issue(event_id: str, json_data: schemas.IssueTickets) -> Response:
    """Issue tickets: all of them, or none. Send an Idempotency-Key, so that a lost answer costs nothing."""

    with parts().database.reading() as session:
        event_layouts.require_open(session, organisation(), event_id)  # without a turn at writing, which may take long

    def write(session: Session) -> dict[str, Any]:
        named = json_data.joins
        joined = queries.joined(session, organisation(), event_id, named) if named else queries.Joined()
        wish = json_data.wish(_till(session), joined)
        made = service.issue(session, organisation(), event_id, wish, deed())
        return {"items": [schemas.TicketView.of(row).model_dump(mode="json") for row in made]}

    return once(write)


def _till(session: Session) -> Till:
    who = current_principal()
    roles = frozenset(role for role in (who.role, who.platform_role) if role)
    return Till(session, organisation(), roles, parts().sealer, parts().clock())


@bp.get("/events/<event_id>/tickets")
@requires(Action.READ)
@bp.input(schemas.TicketsQuery, location="query")
@bp.output(schemas.TicketsView)
def tickets(event_id: str, query_data: schemas.TicketsQuery) -> schemas.TicketsView:
    """List the tickets of an event in the order of their issuing."""
    state = None if query_data.state is None else TicketState[query_data.state.upper()]
    chosen = queries.TicketFilter(query_data.ticket_type, state, query_data.number, query_data.confirmation_code)
    with parts().database.reading() as session:
        events.event(session, organisation(), event_id)
        page = queries.tickets(session, event_id, chosen, limit=query_data.limit, after=query_data.after)
    return schemas.TicketsView(items=[schemas.TicketView.of(row) for row in page.items], next=page.next)


@bp.get("/tickets/<ticket_id>")
@requires(Action.READ)
@bp.output(schemas.TicketView)
def show(ticket_id: str) -> schemas.TicketView:
    """Show a ticket."""
    with parts().database.reading() as session:
        return schemas.TicketView.of(queries.ticket(session, organisation(), queries.internal_id(ticket_id)))


@bp.get("/tickets/<ticket_id>/code")
@requires(Action.ISSUE_TICKETS)
@bp.input(schemas.CodeQuery, location="query")
@bp.output(schemas.CodeView)
def code(ticket_id: str, query_data: schemas.CodeQuery) -> Response:
    """The code of a ticket: as JSON or text, or as a QR code in SVG or PNG. Whoever has it can walk in."""
    with parts().database.reading() as session:
        row = queries.ticket(session, organisation(), queries.internal_id(ticket_id))
        text = codes.text_of(session, row, parts().sealer)
    answer = _coded(query_data.format, text, _code_view(row, text))
    answer.headers["Cache-Control"] = "no-store"
    return answer


@bp.get("/events/<event_id>/codes")
@requires(Action.ISSUE_TICKETS)
@bp.input(schemas.CodesQuery, location="query")
@bp.output(schemas.CodesView)
def all_codes(event_id: str, query_data: schemas.CodesQuery) -> Response:
    """The codes of an event's good tickets, page by page, for whoever prints them. Whoever has them can walk in."""
    chosen = queries.TicketFilter(query_data.ticket_type, TicketState.VALID)
    with parts().database.reading() as session:
        events.event(session, organisation(), event_id)
        page = queries.tickets(session, event_id, chosen, limit=query_data.limit, after=query_data.after)
        texts = codes.texts_of(session, page.items, parts().sealer)
    view = schemas.CodesView(items=[_code_view(*pair) for pair in zip(page.items, texts, strict=True)], next=page.next)
    answer = Response(view.model_dump_json(), content_type="application/json")
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _code_view(row: TicketRecord, text: str) -> schemas.CodeView:
    return schemas.CodeView(ticket_id=queries.public_id(row.id), number=row.number, issue=row.issue, code=text)


def _coded(form: str, text: str, view: schemas.CodeView) -> Response:
    if form == "svg":
        return Response(codes.svg(text), content_type="image/svg+xml")
    if form == "png":
        return Response(codes.png(text), content_type="image/png")
    if form == "text":
        return Response(text + "\n", content_type="text/plain; charset=utf-8")
    return Response(view.model_dump_json(), content_type="application/json")


def _changing(path: str, change: Callable[..., Any], words: str) -> Callable[..., schemas.TicketView]:
    """One address per change of a ticket; they differ in nothing but the change."""

    def view(ticket_id: str, json_data: schemas.TicketWhy) -> schemas.TicketView:
        with parts().database.writing() as session:
            id = queries.internal_id(ticket_id)
            return schemas.TicketView.of(change(session, organisation(), id, deed(), reason=json_data.reason))

    view.__name__ = path
    view.__doc__ = words
    guarded = requires(Action.CHANGE_TICKETS)(bp.input(schemas.TicketWhy)(bp.output(schemas.TicketView)(view)))
    return bp.post(f"/tickets/<ticket_id>/{path}")(guarded)


cancel = _changing("cancel", service.cancel, "Cancel a ticket for good; its seat is free again.")
block = _changing("block", service.block, "Block a ticket for now: lost, stolen or disputed.")
unblock = _changing("unblock", service.unblock, "Let a blocked ticket be good again.")
settle = _changing("settle", service.settle, "Say that an unpaid ticket is paid.")
reissue = _changing("reissue", service.reissue, "Give a ticket a new code; the one before is replaced.")
