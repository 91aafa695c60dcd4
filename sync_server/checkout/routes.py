"""/api/orders, /api/events/…/sales and /api/organisation/checkout: orders as organisers and the box office see them."""

from __future__ import annotations

from collections.abc import Callable

from apiflask import APIBlueprint
from flask import Response
from sqlalchemy.orm import Session

from sync_server.checkout import name_schemas, queries, schemas, selling, settings, settings_schemas, shop_checks, views
from sync_server.checkout.code_routes import bp as codes_bp
from sync_server.checkout.models import CheckoutSettingsRow, OrderRow
from sync_server.checkout.money import ledger, ledger_schemas
from sync_server.checkout.orders import ending, renaming
from sync_server.checkout.orders.fulfilling import SeatsGone
from sync_server.checkout.orders.locking import lock_order
from sync_server.checkout.orders.order_request import OrderRequest
from sync_server.checkout.orders.parcels import Access
from sync_server.checkout.orders.renaming import Names
from sync_server.checkout.payments import paying, refunding
from sync_server.checkout.payments.bank_files.bank_routes import bp as bank_bp
from sync_server.checkout.payments.methods import method_named
from sync_server.checkout.payments.paying import Arrived, OrderKey
from sync_server.checkout.payments.refunding import Refund
from sync_server.checkout.payments.stripe.webhook_routes import bp as stripe_bp
from sync_server.checkout.queries import OrderFilter
from sync_server.checkout.rules import Channel, OrderState
from sync_server.checkout.selling import Sale
from sync_server.checkout.session_routes import bp as sessions_bp
from sync_server.checkout.shop_routes import bp as shop_bp
from sync_server.plumbing.api.edits import check_unchanged, tagged
from sync_server.plumbing.api.idempotency import repeatable, run_once
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, current_principal, organisation, requires

bp = APIBlueprint("orders", __name__, url_prefix="/api", tag="Orders")
__all__ = ["bank_bp", "bp", "codes_bp", "sessions_bp", "shop_bp", "stripe_bp"]


@bp.post("/events/<event_id>/sales")
@requires(Action.ISSUE_TICKETS)
@bp.input(schemas.NewSale)
@bp.output(schemas.OrderView, status_code=201)
@repeatable
def sell(event_id: str, json_data: schemas.NewSale) -> Response:
    """Sell at the box office: order and payment in one step, with the tickets in the response."""
    principal, body = current_principal(), json_data
    method, buyer = method_named(body.method), body.buyer.buyer()
    roles = tuple(role for role in (principal.role, principal.platform_role) if role)
    who, access = (principal.kind, principal.id), Access(roles, override=body.override or "")
    request = OrderRequest(organisation(), event_id, Channel.BOX_OFFICE, *who, body.chosen(), buyer, access)

    def write(session: Session) -> schemas.OrderView:
        sale = Sale(request, method, body.reference)
        return views.view_of(session, selling.sell(session, parts().sealer, sale, context()), parts().clock())

    return run_once(write, event_in_demand=request.visit.event)


@bp.get("/orders")
@requires(Action.READ_ORDERS)
@bp.input(schemas.OrdersQuery, location="query")
@bp.output(schemas.OrdersView)
def listing(query_data: schemas.OrdersQuery) -> schemas.OrdersView:
    """List orders, the newest first: of an event, in a state, by number or buyer."""
    wanted = query_data
    filters = OrderFilter(wanted.event, wanted.state, wanted.search, dispute=wanted.dispute)
    with parts().database.reading() as session:
        return views.page_of(session, organisation(), filters, limit=query_data.limit, after=query_data.after)


@bp.get("/orders/<order_id>")
@requires(Action.READ_ORDERS)
@bp.output(schemas.OrderView)
def show(order_id: str) -> schemas.OrderView:
    """Show an order with its lines and tickets."""
    with parts().database.reading() as session:
        return tagged(views.view_of(session, queries.order(session, organisation(), order_id), parts().clock()))


@bp.get("/orders/<order_id>/ledger")
@requires(Action.READ_ORDERS)
@bp.output(ledger_schemas.LedgerView)
def show_ledger(order_id: str) -> ledger_schemas.LedgerView:
    """Show every movement of money of an order."""
    with parts().database.reading() as session:
        order = queries.order(session, organisation(), order_id)
        rows, due = ledger.movements(session, organisation(), order_id), ledger.balance(session, order).due
    return ledger_schemas.LedgerView(items=[ledger_schemas.movement_view(row) for row in rows], due_cents=due)


@bp.post("/orders/<order_id>/payments")
@requires(Action.ISSUE_TICKETS)
@bp.input(schemas.NotePayment)
@bp.output(schemas.OrderView)
@repeatable
def note_payment(order_id: str, json_data: schemas.NotePayment) -> Response:
    """Note a payment that has arrived. Once all is paid the tickets are valid.

    An order that has run out is sold if its seats are still free; else the payment is kept as owed to the buyer.
    """
    try:
        return _noted(order_id, json_data)
    except SeatsGone:
        return _noted(order_id, json_data, keep_only=True)


def _noted(order_id: str, body: schemas.NotePayment, *, keep_only: bool = False) -> Response:
    method, key = method_named(body.method), OrderKey(organisation(), order_id)

    def write(session: Session) -> schemas.OrderView:
        queries.order(session, organisation(), order_id)
        paying.require_noting(method, context())
        payment = Arrived(method, body.cents, body.reference, body.note)
        order = paying.receive(session, parts().sealer, key, payment, context(), keep_only=keep_only)
        return views.view_of(session, order, parts().clock())

    return run_once(write, status=200, event_in_demand=paying.event_in_demand(parts().database, key))


@bp.post("/orders/<order_id>/cancel")
@requires(Action.CHANGE_ORDERS)
@bp.input(schemas.OrderReason)
@bp.output(schemas.OrderView)
def cancel(order_id: str, json_data: schemas.OrderReason) -> schemas.OrderView:
    """Cancel an order that is not paid; its seats are free again."""
    reason = json_data.reason or "cancelled by the organiser"
    return _changed(order_id, lambda session, order: _cancel(session, order, reason))


def _cancel(session: Session, order: OrderRow, reason: str) -> None:
    ending.end(session, order, OrderState.CANCELLED, context(), reason=reason)


@bp.post("/orders/<order_id>/names")
@requires(Action.CHANGE_ORDERS)
@bp.input(name_schemas.ChangeNames)
@bp.output(schemas.OrderView)
def change_names(order_id: str, json_data: name_schemas.ChangeNames) -> schemas.OrderView:
    """Change the buyer's name, and those of guests; a ticket that was made out to another gets a new code."""
    return _changed(order_id, lambda session, order: _rename(session, order, json_data.names()))


def _rename(session: Session, order: OrderRow, names: Names) -> None:
    renaming.rename(session, order, names, context())


def _changed(order_id: str, change: Callable[[Session, OrderRow], None]) -> schemas.OrderView:
    with parts().database.writing() as session:
        order = lock_order(session, organisation(), order_id)
        check_unchanged(lambda: views.view_of(session, order, parts().clock()))
        change(session, order)
        return tagged(views.view_of(session, order, parts().clock()))


@bp.post("/orders/<order_id>/refunds")
@requires(Action.REFUND_ORDERS)
@bp.input(schemas.RefundBody)
@bp.output(schemas.OrderView)
@repeatable
def refund(order_id: str, json_data: schemas.RefundBody) -> Response:
    """Refund lines, or the whole order, and pay back what is owed; the tickets no longer admit."""
    body, key = json_data, OrderKey(organisation(), order_id)
    wanted = Refund(method_named(body.method), body.lines, body.keep_fees, body.reference, body.reason)

    def write(session: Session) -> schemas.OrderView:
        check_unchanged(lambda: views.view_of(session, lock_order(session, organisation(), order_id), parts().clock()))
        return views.view_of(session, refunding.refund(session, key, wanted, context()), parts().clock())

    return run_once(write, status=200)


@bp.get("/organisation/checkout")
@requires(Action.READ)
@bp.output(settings_schemas.SettingsView)
def show_settings() -> settings_schemas.SettingsView:
    """Show how the organisation sells."""
    with parts().database.reading() as session:
        return tagged(_settings_view(session, settings.settings_of(session, organisation())))


@bp.patch("/organisation/checkout")
@requires(Action.MANAGE_PAYMENTS)
@bp.input(settings_schemas.ChangeSettings)
@bp.output(settings_schemas.SettingsView)
def change_settings(json_data: settings_schemas.ChangeSettings) -> settings_schemas.SettingsView:
    """Change how the organisation sells: for how long orders wait, invoices, and the bank account."""
    with parts().database.writing() as session:
        check_unchanged(lambda: _settings_view(session, settings.lock_settings(session, organisation())))
        changes, sealer = json_data.changes(), parts().sealer
        row = settings.change_settings(session, organisation(), changes, sealer=sealer, context=context())
        return tagged(_settings_view(session, row))


def _settings_view(session: Session, row: CheckoutSettingsRow) -> settings_schemas.SettingsView:
    found, config = shop_checks.warnings_of(session, row), parts().config
    found += [shop_checks.NO_MAIL] if config.mail_url is None else []
    return settings_schemas.settings_view(row, config, found)
