"""/api/organisation/ticket-design, and tickets as PDF for organisers."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response, request

from shared.errors import InvalidRequest
from sync_server.images import rendering
from sync_server.plumbing.api import answers
from sync_server.plumbing.api.edits import check_unchanged, tagged
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires
from sync_server.ticket_files import design, files, schemas
from sync_server.ticket_files.badge_routes import bp as badges_bp
from sync_server.ticket_files.batches.batch_routes import bp as batches_bp
from sync_server.ticket_files.page_routes import bp as page_bp
from sync_server.ticket_files.responses import pdf_response
from sync_server.ticket_files.shop_routes import bp as shop_bp
from sync_server.tickets import queries as tickets

bp = APIBlueprint("ticket_files", __name__, url_prefix="/api", tag="Tickets")
bp.register_blueprint(badges_bp)
__all__ = ["batches_bp", "bp", "page_bp", "shop_bp"]


@bp.get("/tickets/<ticket_id>/pdf")
@requires(Action.ISSUE_TICKETS)
@bp.doc(responses=answers.files("A PDF", "application/pdf"))
@bp.doc(responses=answers.files("One ticket on each page", "application/pdf"))
def ticket_pdf(ticket_id: str) -> Response:
    """Show a ticket as PDF: one page to print or to send. Anyone who has it can enter."""
    with parts().database.reading() as session:
        row = tickets.ticket(session, organisation(), tickets.internal_id(ticket_id))
        content = files.pdf_of_ticket(session, parts().sealer, row, parts().clock())
    return pdf_response(content, row.number)


@bp.get("/orders/<order_id>/tickets.pdf")
@requires(Action.ISSUE_TICKETS)
@bp.doc(responses=answers.files("A PDF", "application/pdf"))
@bp.doc(responses=answers.files("One ticket on each page", "application/pdf"))
def order_pdf(order_id: str) -> Response:
    """Show the tickets of an order as PDF, one on each page."""
    with parts().database.reading() as session:
        content = files.pdf_of_order(session, parts().sealer, organisation(), order_id, parts().clock())
    return pdf_response(content, order_id)


@bp.get("/organisation/ticket-design")
@requires(Action.READ)
@bp.output(schemas.DesignView)
def show_design() -> schemas.DesignView:
    """Show what the organisation's tickets look like."""
    with parts().database.reading() as session:
        return tagged(schemas.design_view(design.design_of(session, organisation())))


@bp.patch("/organisation/ticket-design")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.ChangeDesign)
@bp.output(schemas.DesignView)
def change_design(json_data: schemas.ChangeDesign) -> schemas.DesignView:
    """Change colour and terms of the organisation's tickets, and which websites may show its shop."""
    with parts().database.writing() as session:
        check_unchanged(lambda: schemas.design_view(design.lock_design(session, organisation())))
        return tagged(
            schemas.design_view(design.change_design(session, organisation(), json_data.changes(), context()))
        )


@bp.put("/organisation/ticket-design/logo")
@requires(Action.EDIT_EVENTS)
@bp.output(schemas.DesignView)
@bp.doc(responses={400: "Missing or damaged picture", 413: "Too many bytes"})
def put_logo() -> schemas.DesignView:
    """Set the logo on tickets: JPEG, PNG or WebP, as the body. It stands on a white field."""
    request.max_content_length = rendering.MAX_BYTES
    content = request.get_data()
    if not content:
        raise InvalidRequest("This request has no picture. Send it as the request body.", field="file")
    return _set_logo(design.rendered(content))


@bp.delete("/organisation/ticket-design/logo")
@requires(Action.EDIT_EVENTS)
@bp.output(schemas.DesignView)
def delete_logo() -> schemas.DesignView:
    """Remove the logo from tickets."""
    return _set_logo(None)


def _set_logo(logo: bytes | None) -> schemas.DesignView:
    with parts().database.writing() as session:
        check_unchanged(lambda: schemas.design_view(design.lock_design(session, organisation())))
        return tagged(schemas.design_view(design.set_logo(session, organisation(), logo, context())))
