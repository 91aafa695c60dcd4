"""/api/o/{slug}/orders/…: what buyers get of their tickets: what stands on them, a PDF, an entry for the calendar."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response

from sync_server.checkout.payments.paying import OrderKey
from sync_server.checkout.shop import for_buyer
from sync_server.plumbing.api import answers
from sync_server.plumbing.parts import parts
from sync_server.ticket_files import files, schemas
from sync_server.ticket_files.responses import kept_private, pdf_response

bp = APIBlueprint("tickets_in_hand", __name__, url_prefix="/api/o/<slug>", tag="Buying")


@bp.after_request
def no_store(response: Response) -> Response:
    """Whoever has a ticket can enter."""
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.get("/orders/<order_id>/tickets")
@for_buyer
@bp.output(schemas.TicketFacesView)
def show(key: OrderKey) -> schemas.TicketFacesView:
    """Show all that stands on the tickets of an order, with their codes as SVG, in the language of the buyer."""
    with parts().database.reading() as session:
        return schemas.faces_view(*files.faces_of_order(session, parts().sealer, *key))


@bp.get("/orders/<order_id>/tickets.pdf")
@for_buyer
@bp.doc(responses=answers.files("A PDF", "application/pdf"))
@bp.doc(responses=answers.files("One ticket on each page", "application/pdf"))
def pdf(key: OrderKey) -> Response:
    """Show the tickets of an order as PDF, one on each page."""
    with parts().database.reading() as session:
        content = files.pdf_of_order(session, parts().sealer, *key, parts().clock())
    return pdf_response(content, key.order_id)


@bp.get("/orders/<order_id>/calendar.ics")
@for_buyer
@bp.doc(responses=answers.files("A file for calendars", "text/calendar"))
def calendar(key: OrderKey) -> Response:
    """Show the order as an entry for calendars; fetched again, it moves with its event."""
    with parts().database.reading() as session:
        content = files.calendar_of_order(session, *key, parts().clock())
    return kept_private(Response(content, content_type="text/calendar; charset=utf-8"), f"{key.order_id}.ics")
