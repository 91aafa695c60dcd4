"""/api/events/…/ticket-batches and /api/ticket-batches: all tickets of an event in one PDF."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response
from sqlalchemy.orm import Session

from shared.errors import Conflict
from sync_server.plumbing.api import answers
from sync_server.plumbing.api.idempotency import repeatable, run_once
from sync_server.plumbing.api.pagination import PageQuery
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires
from sync_server.ticket_files.batches import batch_schemas as schemas
from sync_server.ticket_files.batches import queue
from sync_server.ticket_files.responses import kept_private

bp = APIBlueprint("ticket_batches", __name__, url_prefix="/api", tag="Tickets")


@bp.post("/events/<event_id>/ticket-batches")
@requires(Action.ISSUE_TICKETS)
@bp.input(schemas.NewTicketBatch)
@bp.output(schemas.TicketBatchView, status_code=202)
@repeatable
def ask(event_id: str, json_data: schemas.NewTicketBatch) -> Response:
    """Ask for a PDF of all tickets of an event, to print or to hand on; the worker writes it."""
    key = EventKey(organisation(), event_id)

    def write(session: Session) -> schemas.TicketBatchView:
        return schemas.batch_view(queue.ask(session, key, json_data.ticket_type, context()))

    response = run_once(write, status=202)
    response.headers["Location"] = f"/api/ticket-batches/{response.get_json()['id']}"
    return response


@bp.get("/events/<event_id>/ticket-batches")
@requires(Action.ISSUE_TICKETS)
@bp.input(PageQuery, location="query")
@bp.output(schemas.TicketBatchesView)
def listing(event_id: str, query_data: PageQuery) -> schemas.TicketBatchesView:
    """List the PDFs of an event, the newest first; those of the last day."""
    key = EventKey(organisation(), event_id)
    with parts().database.reading() as session:
        page = queue.batches(session, key, limit=query_data.limit, after=query_data.after)
    return schemas.TicketBatchesView(items=[schemas.batch_view(row) for row in page.items], next=page.next)


@bp.get("/ticket-batches/<batch_id>")
@requires(Action.ISSUE_TICKETS)
@bp.output(schemas.TicketBatchView)
def show(batch_id: str) -> schemas.TicketBatchView:
    """Show how far a PDF is."""
    with parts().database.reading() as session:
        return schemas.batch_view(queue.find(session, organisation(), batch_id))


@bp.get("/ticket-batches/<batch_id>/pdf")
@requires(Action.ISSUE_TICKETS)
@bp.doc(responses=answers.files("One ticket on each page", "application/pdf"))
def fetch(batch_id: str) -> Response:
    """Fetch the PDF. Anyone who has it can enter."""
    where = parts(), organisation()
    with where[0].database.reading() as session:
        row = queue.find(session, where[1], batch_id)
    if row.state != "done":
        raise Conflict("This PDF is not finished. Its state says how far it is.", code="batch_not_done")
    pieces = queue.pieces(where[0].database, where[0].sealer, where[1], batch_id)
    response = Response(pieces, content_type="application/pdf")
    response.headers["Content-Length"] = str(row.bytes)
    return kept_private(response, f"tickets-{batch_id}.pdf")


@bp.post("/ticket-batches/<batch_id>/cancel")
@requires(Action.ISSUE_TICKETS)
@bp.output(schemas.TicketBatchView)
def cancel(batch_id: str) -> schemas.TicketBatchView:
    """Stop writing a PDF, or delete one that is finished."""
    with parts().database.writing() as session:
        return schemas.batch_view(queue.cancel(session, organisation(), batch_id, context()))
