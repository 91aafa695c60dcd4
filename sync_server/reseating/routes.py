"""/api/events/…/layout/migrate: moves an event's guests to another layout, in two steps."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response
from msgspec import structs
from sqlalchemy.orm import Session

from shared.errors import NotFound
from sync_server.plumbing.api import idempotency
from sync_server.plumbing.api.pagination import PageQuery, decode_cursor
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action, ActionContext
from sync_server.plumbing.web import context, organisation, require, requires
from sync_server.reseating import batches, one_guest, queries, schemas, service
from sync_server.reseating.models import ReseatingRecord
from sync_server.reseating.pages import page
from sync_server.reseating.service import MoveRequest
from sync_server.tickets import queries as tickets
from sync_server.tickets.schemas import TicketView, ticket_view

bp = APIBlueprint("reseating", __name__, url_prefix="/api/events/<event_id>/layout", tag="Moving guests")

PAUSE_S = 0.02
FIRST_PAGE = 500
"""The moves in the response to a new report; the others are read page by page."""


@bp.post("/migrate")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.MoveGuests)
@bp.output(schemas.WholeMigrationView, status_code=201)
@idempotency.repeatable
def migrate(event_id: str, json_data: schemas.MoveGuests) -> Response:
    """Report where guests would sit in another layout; with the fingerprint of that report, move them, all or none."""
    move = json_data.move()
    if json_data.fingerprint is not None:
        require(Action.CHANGE_TICKETS)
    before = idempotency.stored_response()
    if before is not None:
        return before
    return _report(event_id, move) if json_data.fingerprint is None else _carry_out(event_id, move)


def _report(event_id: str, move: MoveRequest) -> Response:
    with parts().database.reading() as session:
        proposal = service.prepare(session, organisation(), event_id, move, context())
    return idempotency.run_once(
        lambda session: page(session, service.keep(session, proposal, move, context()), after=0, limit=FIRST_PAGE)
    )


def _carry_out(event_id: str, move: MoveRequest) -> Response:
    """Move in batches, each in its own transaction: this request waits for all of them, others for one at most."""
    with parts().database.writing() as session:
        row = service.close(session, organisation(), event_id, move, context())
    if row.state == "closed":
        _begin(event_id, move, row.id)

    def stored(session: Session) -> ReseatingRecord:
        return queries.reseating(session, organisation(), event_id, row.id)

    more = True
    while more:
        parts().stop.wait(PAUSE_S)  # let other writers in; SQLite's lock is not fair
        with parts().database.writing() as session:
            more = batches.move_next_batch(session, stored(session), _now())
    return idempotency.run_once(lambda session: page(session, stored(session), after=0, limit=FIRST_PAGE))


def _begin(event_id: str, move: MoveRequest, migration_id: str) -> None:
    try:
        with parts().database.writing() as session:
            service.begin(session, organisation(), event_id, move, context())
    except Exception:
        with parts().database.writing() as session:
            service.reopen(session, organisation(), event_id, migration_id)
        raise


def _now() -> ActionContext:
    """The context of this request with the current time, seconds after it began."""
    return structs.replace(context(), now=parts().clock())


@bp.post("/moved-guests")
@requires(Action.CHANGE_TICKETS)
@bp.input(schemas.MoveOneGuest)
@bp.output(TicketView, status_code=201)
@idempotency.once
def move_one_guest(session: Session, event_id: str, json_data: schemas.MoveOneGuest) -> TicketView:
    """Move one guest to a free seat: the ticket gets a new code, the old one dies at every gate, the buyer is told."""
    move = json_data.move()
    if tickets.event_of(session, organisation(), move.ticket_id) != event_id:
        raise NotFound("The event has no such ticket.", code="ticket_not_found")
    return ticket_view(one_guest.move_guest(session, organisation(), move, context()))


@bp.get("/migrations")
@requires(Action.READ)
@bp.input(PageQuery, location="query")
@bp.output(schemas.MigrationsView)
def listing(event_id: str, query_data: PageQuery) -> schemas.MigrationsView:
    """List all reports of an event."""
    with parts().database.reading() as session:
        page = queries.reseatings(session, organisation(), event_id, limit=query_data.limit, after=query_data.after)
    items = [schemas.MigrationView.of(row, **schemas.of_report(row)) for row in page.items]
    return schemas.MigrationsView(items=items, next=page.next)


@bp.get("/migrations/<migration_id>")
@requires(Action.READ)
@bp.input(PageQuery, location="query")
@bp.output(schemas.WholeMigrationView)
def show(event_id: str, migration_id: str, query_data: PageQuery) -> schemas.WholeMigrationView:
    """Show a report; its moves come page by page."""
    start = decode_cursor(query_data.after, int)
    with parts().database.reading() as session:
        row = queries.reseating(session, organisation(), event_id, migration_id)
        return page(session, row, after=start[0] if start else 0, limit=query_data.limit)
