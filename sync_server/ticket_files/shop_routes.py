"""/api/o/{slug}/orders/…/tickets.pdf: what buyers get of their tickets."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response

from sync_server.checkout.payments.paying import OrderKey
from sync_server.checkout.shop import for_buyer
from sync_server.plumbing.api import answers
from sync_server.plumbing.parts import parts
from sync_server.ticket_files import files
from sync_server.ticket_files.responses import pdf_response

bp = APIBlueprint("tickets_in_hand", __name__, url_prefix="/api/o/<slug>", tag="Buying")


@bp.get("/orders/<order_id>/tickets.pdf")
@for_buyer
@bp.doc(responses=answers.files("A PDF", "application/pdf"))
def pdf(key: OrderKey) -> Response:
    """Show the tickets of an order as PDF, one on each page."""
    with parts().database.reading() as session:
        content = files.pdf_of_order(session, parts().sealer, *key, parts().clock())
    return pdf_response(content, key.order_id)
