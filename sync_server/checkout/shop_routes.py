"""/api/o/{slug}/events/…/orders and /api/o/{slug}/orders: buying in the shop."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response, jsonify
from sqlalchemy.orm import Session

from sync_server.checkout import queries, schemas, views
from sync_server.checkout.codes import guessing
from sync_server.checkout.money import epc
from sync_server.checkout.orders import ending, placing
from sync_server.checkout.orders import links as order_links
from sync_server.checkout.orders.locking import lock_order
from sync_server.checkout.orders.order_request import OrderRequest
from sync_server.checkout.orders.parcels import Access
from sync_server.checkout.payments import buying, instructions, paying
from sync_server.checkout.payments.methods import method_named
from sync_server.checkout.payments.paying import OrderKey
from sync_server.checkout.payments.stripe import beginning
from sync_server.checkout.payments.stripe.access import StripeAccess
from sync_server.checkout.payments.stripe.proceeding import proceed
from sync_server.checkout.queries import OrderFilter
from sync_server.checkout.rules import Channel, OrderState
from sync_server.checkout.sessions import entering
from sync_server.checkout.sessions.rules import SessionState
from sync_server.checkout.shop import for_buyer, shop, tab
from sync_server.plumbing.api import answers
from sync_server.plumbing.api.edits import check_unchanged, tagged
from sync_server.plumbing.api.idempotency import repeatable, run_once
from sync_server.plumbing.api.pagination import PageQuery
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, current_principal, requires
from sync_server.seating.zone_access.entitlements import GuestIdKind, guest_key
from sync_server.tickets import queries as tickets
from sync_server.tickets.endpoints.code_responses import CODE_TYPES, code_response
from sync_server.tickets.schemas import CodeQuery, CodeView

bp = APIBlueprint("checkout", __name__, url_prefix="/api/o/<slug>", tag="Buying")


@bp.after_request
def no_store(response: Response) -> Response:
    """Orders name people, and tickets are money: nothing here may be cached."""
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.post("/events/<event_id>/orders")
@requires(Action.BUY_TICKETS)
@bp.input(schemas.NewOrder)
@bp.output(schemas.OrderView, status_code=201)
@repeatable
def create(slug: str, event_id: str, json_data: schemas.NewOrder) -> Response:
    """Order what you hold at an event. The order keeps the seats until it is paid or runs out.

    With `pay` it is paid in the same request, all or nothing: a free order has its tickets in the response.
    """
    request = _request(shop(slug), event_id, json_data)
    guessing.require_codes(parts().database, parts().sealer, request.visit.event, request.codes, context())

    method = None if json_data.pay is None else method_named(json_data.pay.method)

    def write(session: Session) -> schemas.OrderView:
        where = session, parts().sealer, request
        whole = placing.place(*where, context()).whole if method is None else buying.buy(*where, method, context())
        return views.view_of_whole(session, whole, parts().clock())

    return run_once(write, event_in_demand=request.visit.event)


def _request(organisation_id: str, event_id: str, body: schemas.NewOrder) -> OrderRequest:
    principal, invitation = current_principal(), ""
    if body.invitation:
        _, invitation = guest_key(parts().sealer, organisation_id, GuestIdKind.CODE, body.invitation)
    roles = tuple(role for role in (principal.role, principal.platform_role) if role)
    who, chosen = (principal.kind, principal.id), [each.chosen() for each in body.holds]
    access = Access(roles, invitation)
    buyer = body.buyer.buyer()
    return OrderRequest(organisation_id, event_id, Channel.SHOP, *who, chosen, buyer, access, tab(), body.codes)


@bp.get("/orders")
@requires(Action.BUY_TICKETS)
@bp.input(PageQuery, location="query")
@bp.output(schemas.OrdersView)
def mine(slug: str, query_data: PageQuery) -> schemas.OrdersView:
    """List the orders of this session."""
    organisation_id, filters = shop(slug), OrderFilter(bearer_id=current_principal().id)
    with parts().database.reading() as session:
        return views.page_of(session, organisation_id, filters, limit=query_data.limit, after=query_data.after)


@bp.get("/orders/<order_id>")
@for_buyer
@bp.output(schemas.OrderView)
def show(key: OrderKey) -> schemas.OrderView:
    """Show an order of this session, or of the link whose secret is sent as `X-Order-Secret`."""
    with parts().database.reading() as session:
        return tagged(views.view_of(session, queries.order(session, *key), parts().clock()))


@bp.get("/orders/<order_id>/link")
@for_buyer
@bp.output(schemas.LinkView)
def link(key: OrderKey) -> schemas.LinkView:
    """The secret with which the order can be opened without this session."""
    return schemas.LinkView(order_id=key.order_id, secret=order_links.secret_of(parts().sealer, *key))


@bp.post("/orders/<order_id>/pay")
@for_buyer
@bp.input(schemas.PayBody)
@bp.output(schemas.OrderView)
@repeatable
def pay(key: OrderKey, json_data: schemas.PayBody) -> Response:
    """Choose how to pay. A free order has its tickets in the response; repeating the request changes nothing.

    With `stripe` the response has the `client_secret` with which the page pays; send it again when the page has paid.
    """
    method = method_named(json_data.method)
    paying.require_in_shop(method)

    def write(session: Session) -> schemas.OrderView:
        whole = paying.start(session, parts().sealer, key, method, context())
        if method.online:
            beginning.plan(session, whole.order, context())
        return views.view_of_whole(session, whole, parts().clock())

    response = run_once(write, status=200, event_in_demand=paying.event_in_demand(parts().database, key))
    return _with_secret(key) if method.online else response


def _with_secret(key: OrderKey) -> Response:
    """The order as it is now, with what the page needs to pay; that is stored nowhere, and so not repeated."""
    secret = proceed(StripeAccess.of(parts()), key, context())
    with parts().database.reading() as session:
        view = views.view_of(session, queries.order(session, *key), parts().clock())
    if view.payment is not None:
        view.payment.client_secret = secret
    return jsonify(view.model_dump(mode="json"))


@bp.get("/orders/<order_id>/transfer-code")
@for_buyer
@bp.input(schemas.TransferCodeQuery, location="query")
@bp.output(schemas.TransferCodeView)
@bp.doc(responses=answers.files("The code in the form that was asked for", "image/svg+xml", "image/png"))
def transfer_code(key: OrderKey, query_data: schemas.TransferCodeQuery) -> Response:
    """Show the QR code that fills in the transfer in a banking app; 404 unless an invoice in euros is to be paid."""
    with parts().database.reading() as session:
        text = instructions.transfer_code(session, queries.order(session, *key))
    if query_data.format == "json":
        return jsonify(schemas.TransferCodeView(text=text).model_dump())
    types = {"svg": "image/svg+xml", "png": "image/png"}
    return Response(epc.picture(text, query_data.format), content_type=types[query_data.format])


@bp.delete("/orders/<order_id>")
@for_buyer
@bp.doc(responses={204: "Cancelled"})
def cancel(key: OrderKey) -> tuple[str, int]:
    """Cancel an order that is not paid; its seats are free again. Cancelling it again changes nothing."""
    with parts().database.writing() as session:
        order = lock_order(session, *key)
        check_unchanged(lambda: views.view_of(session, order, parts().clock()))
        if order.state != OrderState.CANCELLED:
            ending.end(session, order, OrderState.CANCELLED, context(), reason="cancelled by the buyer")
            entering.close_of(session, order, SessionState.LEFT, parts().clock())
    return "", 204


@bp.get("/orders/<order_id>/tickets/<ticket_id>/code")
@for_buyer
@bp.input(CodeQuery, location="query")
@bp.output(CodeView)
@bp.doc(responses=answers.files("The code in the form that was asked for", *CODE_TYPES))
def code(key: OrderKey, ticket_id: str, query_data: CodeQuery) -> Response:
    """Show the code of a ticket of the order as JSON, text, SVG or PNG. Anyone who has the code can enter."""
    id = tickets.internal_id(ticket_id)
    with parts().database.reading() as session:
        paying.require_ticket(queries.lines(session, *key), id)
        row = tickets.ticket(session, key.organisation_id, id)
        return code_response(session, row, parts().sealer, query_data.format)
