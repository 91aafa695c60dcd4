"""/api/o/{slug}/my, …/transfers and …/orders/…/cancellation, and /api/organisation/self-service."""

from __future__ import annotations

import hmac

from apiflask import APIBlueprint
from flask import Response, request
from sqlalchemy.orm import Session

from sync_server.accounts.sign_in import throttling
from sync_server.accounts.sign_in.throttling import Tried
from sync_server.checkout import queries as orders
from sync_server.checkout import schemas as order_schemas
from sync_server.checkout import views as order_views
from sync_server.checkout.payments import paying
from sync_server.checkout.payments.paying import OrderKey
from sync_server.checkout.queries import OrderFilter
from sync_server.checkout.shop import for_buyer
from sync_server.customers import browsers, profile
from sync_server.customers.browsers import for_customer
from sync_server.customers.rules import MEMBERSHIP_PROOFS
from sync_server.plumbing.api import answers
from sync_server.plumbing.api.edits import check_unchanged, tagged
from sync_server.plumbing.api.pagination import PageQuery
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action, Principal
from sync_server.plumbing.web import context, organisation, requires
from sync_server.self_service import cancelling, memberships, owners, schemas, settings, transfers, views
from sync_server.self_service.owners import TicketKey
from sync_server.self_service.transfers import Gift
from sync_server.ticket_files import files
from sync_server.ticket_files.responses import pdf_response
from sync_server.tickets import queries as tickets
from sync_server.tickets.endpoints.code_responses import CODE_TYPES, code_response
from sync_server.tickets.schemas import CodeQuery, CodeView

bp = APIBlueprint("my", __name__, url_prefix="/api/o/<slug>", tag="Customers")
settings_bp = APIBlueprint("self_service", __name__, url_prefix="/api/organisation/self-service", tag="Orders")
TICKET_HEADER = "X-Ticket-Secret"


@bp.after_request
def no_store(response: Response) -> Response:
    """Tickets are money, and orders name people: nothing here may be cached."""
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.get("/my/orders")
@for_customer
@bp.input(PageQuery, location="query")
@bp.output(order_schemas.OrdersView)
def my_orders(by: Principal, query_data: PageQuery) -> order_schemas.OrdersView:
    """List the orders of the customer. Each opens at `/api/o/{slug}/orders/{id}`."""
    filters = OrderFilter(customer_id=by.id)
    with parts().database.reading() as session:
        return order_views.page_of(session, by.organisation_id, filters, limit=query_data.limit, after=query_data.after)


@bp.get("/my/tickets")
@for_customer
@bp.output(schemas.OwnTickets)
def my_tickets(by: Principal) -> schemas.OwnTickets:
    """List the tickets of the customer: bought and not passed on, or received."""
    with parts().database.reading() as session:
        return schemas.OwnTickets(items=views.own_tickets(session, by))


@bp.get("/my/tickets/<ticket_id>/code")
@for_customer
@bp.input(CodeQuery, location="query")
@bp.output(CodeView)
@bp.doc(responses=answers.files("The code in the form that was asked for", *CODE_TYPES))
def my_code(by: Principal, ticket_id: str, query_data: CodeQuery) -> Response:
    """Show the code of a ticket of the customer. Anyone who has the code can enter."""
    with parts().database.reading() as session:
        key = owners.ticket_of(session, by, tickets.internal_id(ticket_id))
        row = tickets.ticket(session, key.organisation_id, key.ticket_id)
        return code_response(session, row, parts().sealer, query_data.format)


@bp.get("/my/tickets/<ticket_id>/ticket.pdf")
@for_customer
@bp.doc(summary="Show a ticket as PDF", responses=answers.files("A PDF", "application/pdf"))
def my_pdf(by: Principal, ticket_id: str) -> Response:
    """Show a ticket of the customer as PDF."""
    with parts().database.reading() as session:
        key = owners.ticket_of(session, by, tickets.internal_id(ticket_id))
        row = tickets.ticket(session, key.organisation_id, key.ticket_id)
        content = files.pdf_of_ticket(session, parts().sealer, row, parts().clock())
    return pdf_response(content, row.number)


@bp.post("/my/tickets/<ticket_id>/transfer")
@for_customer
@bp.input(schemas.OfferTicket)
@bp.output(schemas.TransferView, status_code=201)
@bp.doc(summary="Pass a ticket of yours on")
def offer_mine(by: Principal, ticket_id: str, json_data: schemas.OfferTicket) -> schemas.TransferView:
    """Offer a ticket of the customer to somebody else, who gets a link by mail."""
    with parts().database.writing() as session:
        key = owners.ticket_of(session, by, tickets.internal_id(ticket_id))
        return views.transfer(transfers.offer(parts(), session, key, _gift(json_data), context()))


@bp.delete("/my/tickets/<ticket_id>/transfer")
@for_customer
@bp.doc(summary="Withdraw the offer of a ticket of yours", responses={204: "Withdrawn"})
def withdraw_mine(by: Principal, ticket_id: str) -> tuple[str, int]:
    """Withdraw an offer that nobody has accepted."""
    with parts().database.writing() as session:
        key = owners.ticket_of(session, by, tickets.internal_id(ticket_id))
        transfers.withdraw(session, key, context())
    return "", 204


@bp.post("/my/membership")
@for_customer
@bp.input(schemas.LinkMembership)
@bp.output(schemas.LinkedMembership)
@bp.doc(summary="Link a membership", responses={200: "Linked"})
def link_membership(by: Principal, json_data: schemas.LinkMembership) -> schemas.LinkedMembership:
    """Link a membership: by its card, or by its number where the organiser holds the customer's address for it."""
    tried = [Tried(MEMBERSHIP_PROOFS, by.id)]
    throttling.check(parts().database, tried, parts().clock(), "Too many attempts. Wait {seconds} seconds.")
    with parts().database.writing() as session:
        found = memberships.link(session, by, json_data.membership, parts().sealer, context())
        throttling.forget(session, tried)
    return schemas.LinkedMembership.of(found)


@bp.delete("/my/membership")
@for_customer
@bp.doc(summary="Unlink the membership", responses={204: "Unlinked"})
def unlink_membership(by: Principal) -> tuple[str, int]:
    """Unlink the membership from the login; it stays valid."""
    with parts().database.writing() as session:
        profile.link_membership(session, by.organisation_id, by.id, "", context())
    return "", 204


@bp.post("/orders/<order_id>/tickets/<ticket_id>/transfer")
@for_buyer
@bp.input(schemas.OfferTicket)
@bp.output(schemas.TransferView, status_code=201)
@bp.doc(summary="Pass a ticket of an order on")
def offer(key: OrderKey, ticket_id: str, json_data: schemas.OfferTicket) -> schemas.TransferView:
    """Offer a ticket of an order to somebody else, who gets a link by mail."""
    with parts().database.writing() as session:
        ticket = _of_order(session, key, ticket_id)
        return views.transfer(transfers.offer(parts(), session, ticket, _gift(json_data), context()))


@bp.delete("/orders/<order_id>/tickets/<ticket_id>/transfer")
@for_buyer
@bp.doc(summary="Withdraw the offer of a ticket of an order", responses={204: "Withdrawn"})
def withdraw(key: OrderKey, ticket_id: str) -> tuple[str, int]:
    """Withdraw an offer that nobody has accepted."""
    with parts().database.writing() as session:
        ticket = _of_order(session, key, ticket_id)
        transfers.withdraw(session, ticket, context())
    return "", 204


@bp.post("/orders/<order_id>/cancellation")
@for_buyer
@bp.input(schemas.CancelLines)
@bp.output(schemas.CancellationView)
@bp.doc(summary="Cancel a paid order", responses={200: "Cancelled, or what that would come to"})
def cancel(key: OrderKey, json_data: schemas.CancelLines) -> schemas.CancellationView:
    """Give tickets of a paid order back, where the organiser allows it."""
    with parts().database.writing() as session:
        found = cancelling.terms(session, key, json_data.lines, parts().clock())
        if not json_data.preview:
            cancelling.cancel(session, key, found.positions, context())
    back = found.paid_cents - found.kept_cents
    return schemas.CancellationView(
        lines=list(found.positions),
        paid_cents=found.paid_cents,
        kept_cents=found.kept_cents,
        refund_cents=back,
        done=not json_data.preview,
    )


@bp.post("/transfers/preview")
@bp.input(schemas.TransferCode)
@bp.output(schemas.OfferedTicket)
@bp.doc(summary="See what is offered by a link", responses={200: "What is offered"})
def preview(slug: str, json_data: schemas.TransferCode) -> schemas.OfferedTicket:
    """Show which ticket a link offers. Nothing is changed."""
    with parts().database.reading() as session:
        row = transfers.find(session, browsers.shop(session, slug).id, json_data.code, parts().clock())
        return views.offered_ticket(session, row)


@bp.post("/transfers/accept")
@bp.input(schemas.AcceptTransfer)
@bp.output(schemas.AcceptedTicket)
@bp.doc(summary="Accept a ticket", responses={200: "The ticket is yours"})
def accept(slug: str, json_data: schemas.AcceptTransfer) -> schemas.AcceptedTicket:
    """Accept a ticket by the code of its link: it has a new code, and the one before admits nobody."""
    with parts().database.writing() as session:
        where = browsers.shop(session, slug).id
        row = transfers.accept(session, where, json_data.code, json_data.name.strip(), context())
        return views.accepted_ticket(row, parts().sealer)


@bp.post("/transfers/decline")
@bp.input(schemas.TransferCode)
@bp.doc(summary="Decline a ticket", responses={204: "Declined"})
def decline(slug: str, json_data: schemas.TransferCode) -> tuple[str, int]:
    """Decline a ticket by the code of its link: it stays its owner's."""
    with parts().database.writing() as session:
        transfers.decline(session, browsers.shop(session, slug).id, json_data.code, context())
    return "", 204


@bp.get("/received/<ticket_id>/code")
@bp.input(CodeQuery, location="query")
@bp.output(CodeView)
@bp.doc(
    summary="Show the code of a ticket that was passed on to you",
    responses=answers.files("The code in the form that was asked for", *CODE_TYPES),
)
def received_code(slug: str, ticket_id: str, query_data: CodeQuery) -> Response:
    """Show the code of a ticket to whoever has accepted it: send its secret as `X-Ticket-Secret`."""
    with parts().database.reading() as session:
        where, id = browsers.shop(session, slug).id, tickets.internal_id(ticket_id)
        row = tickets.ticket(session, where, id)
        sent, right = request.headers.get(TICKET_HEADER, ""), owners.secret_of(parts().sealer, row)
        if id not in owners.accepted(session, where, [id]) or not hmac.compare_digest(sent.encode(), right.encode()):
            raise owners.no_such_ticket()
        return code_response(session, row, parts().sealer, query_data.format)


@settings_bp.get("")
@requires(Action.READ)
@settings_bp.output(schemas.SelfServiceView)
def show_settings() -> schemas.SelfServiceView:
    """Show what buyers may do alone."""
    with parts().database.reading() as session:
        return tagged(schemas.settings_view(settings.settings_of(session, organisation())))


@settings_bp.patch("")
@requires(Action.MANAGE_PAYMENTS)
@settings_bp.input(schemas.ChangeSelfService)
@settings_bp.output(schemas.SelfServiceView)
def change_settings(json_data: schemas.ChangeSelfService) -> schemas.SelfServiceView:
    """Change what buyers may do alone: pass tickets on, cancel, until when, and what is kept."""
    with parts().database.writing() as session:
        check_unchanged(lambda: schemas.settings_view(settings.lock_settings(session, organisation())))
        row = settings.change_settings(session, organisation(), json_data.changes(), context())
        return tagged(schemas.settings_view(row))


def _gift(body: schemas.OfferTicket) -> Gift:
    return Gift(body.email, body.giver, body.locale or "")


def _of_order(session: Session, key: OrderKey, ticket_id: str) -> TicketKey:
    """A ticket of the order that is still its buyer's."""
    id = tickets.internal_id(ticket_id)
    paying.require_ticket(orders.lines(session, *key), id)
    return TicketKey(key.organisation_id, key.order_id, id)
