"""Pages of orders: the list, one order with all that happened to it, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from flask import redirect, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import GatehouseError, InvalidRequest
from sync_server.accounts import queries as accounts
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page, render_page, words
from sync_server.admin.selling.order_history import history
from sync_server.audit import queries as audit
from sync_server.audit.queries import AuditFilter
from sync_server.checkout import queries, views
from sync_server.checkout.orders import ending, noting, renaming
from sync_server.checkout.orders.locking import lock_order
from sync_server.checkout.orders.renaming import Names
from sync_server.checkout.payments import paying
from sync_server.checkout.payments.methods import method_named
from sync_server.checkout.payments.paying import Arrived, OrderKey
from sync_server.checkout.queries import OrderFilter
from sync_server.checkout.rules import OrderState
from sync_server.checkout.schemas import OrderView
from sync_server.events import queries as events
from sync_server.order_mails import resending
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context
from sync_server.tickets.types import badge_layouts

PAGE_SIZE: Final = 50
HISTORY: Final = 100
T = TypeVar("T")
Page = str | tuple[str, int] | WerkzeugResponse


def _filters(event_id: str | None = None) -> OrderFilter:
    state, words = request.args.get("state", ""), request.args.get("q", "").strip()[:100]
    return OrderFilter(event_id, state if state in set(OrderState) else None, words or None)


@bp.get("/orders")
@page(Action.READ_ORDERS)
def orders() -> str:
    """The organisation's orders, the newest first."""
    here = current_organisation()
    with parts().database.reading() as session:
        found = views.page_of(session, here, _filters(), limit=PAGE_SIZE, after=request.args.get("after"))
        names = events.names_by_id(session, here, {order.event_id for order in found.items})
    return render_page("selling/orders.html", orders=found.items, next=found.next, names=names, states=list(OrderState))


@bp.get("/events/<event_id>/orders")
@page(Action.READ_ORDERS)
def event_orders(event_id: str) -> str:
    """The orders of one event."""
    here = current_organisation()
    with parts().database.reading() as session:
        event = events.event(session, here, event_id)
        found = views.page_of(session, here, _filters(event_id), limit=PAGE_SIZE, after=request.args.get("after"))
    shown = {"orders": found.items, "next": found.next, "states": list(OrderState)}
    return render_page("selling/event_orders.html", event=event, **shown)


@bp.get("/orders/<order_id>")
@page(Action.READ_ORDERS)
def order(order_id: str) -> str:
    """One order: what was bought, what was paid, and all that happened to it."""
    return _order(order_id, {})


def _order(order_id: str, problems: dict[str, str]) -> str:
    here = current_organisation()
    with parts().database.reading() as session:
        _, view, event = read_order(session, order_id)
        chosen = AuditFilter(subject_kind="order", subject_id=order_id)
        lines = audit.lines(session, here, chosen, limit=HISTORY, after=None).items
        names = {one.user_id: one.name or one.email for one in accounts.members(session, here)}
        has_badges = any(badge_layouts.layouts(session, event.key).values())
    shown = {"history": history(lines, names, words()), "has_badges": has_badges, "problems": problems}
    return render_page("selling/order.html", order=view, event=event, **shown)


def read_order(session: Session, order_id: str) -> tuple[queries.Order, OrderView, events.Event]:
    """An order as it is stored and as it is shown, and its event."""
    here = current_organisation()
    row = queries.order(session, here, order_id)
    return row, views.view_of(session, row, parts().clock()), events.event(session, here, row.event_id)


@bp.get("/orders/<order_id>/cancel")
@page(Action.CHANGE_ORDERS)
def ask_to_cancel(order_id: str) -> str | WerkzeugResponse:
    """What cancelling an order that is not paid means; one that was paid meanwhile shows itself."""
    with parts().database.reading() as session:
        row, view, event = read_order(session, order_id)
    if row.state != OrderState.PENDING.value:
        return redirect(url_for("admin.order", order_id=order_id))
    return render_page("selling/order_cancel.html", order=view, event=event)


@bp.post("/orders/<order_id>/cancel")
@page(Action.CHANGE_ORDERS)
def cancel_order(order_id: str) -> WerkzeugResponse:
    """Cancel an order that is not paid; its seats are free again."""
    reason = forms.text("reason", 1_000) or words()("order.cancelled_by_organiser")

    def end(session: Session, key: OrderKey) -> None:
        ending.end(session, lock_order(session, *key), OrderState.CANCELLED, context(), reason=reason)

    change_order(order_id, end)
    return redirect(url_for("admin.order", order_id=order_id))


@bp.get("/orders/<order_id>/names")
@page(Action.CHANGE_ORDERS)
def ask_for_names(order_id: str) -> str:
    """The names on an order: its buyer's, and those of the guests."""
    return _names_page(order_id)


def _names_page(order_id: str, problem: str = "") -> str:
    with parts().database.reading() as session:
        _, view, event = read_order(session, order_id)
    guests = [line for line in view.lines if line.state in renaming.STANDING]
    return render_page("selling/order_names.html", order=view, event=event, guests=guests, problem=problem)


@bp.post("/orders/<order_id>/names")
@page(Action.CHANGE_ORDERS)
def rename_order(order_id: str) -> Page:
    """Change names; tickets that were made out to another get new codes."""
    typed = (key.removeprefix("guest-") for key in request.form if key.startswith("guest-"))
    guests = {int(each): forms.text(f"guest-{each}", 100) for each in typed if each.isdecimal() and len(each) < 4}
    names = Names(forms.text("buyer", 100), guests, forms.text("reason", 1_000))
    try:
        reissued = change_order(order_id, lambda session, key: _renamed(session, key, names))
        if reissued and forms.ticked("mail"):
            resending.resend(parts(), OrderKey(current_organisation(), order_id), context())
            return redirect(url_for("admin.order", order_id=order_id, sent=1))
    except GatehouseError as error:
        return _names_page(order_id, error.message), error.status
    return redirect(url_for("admin.order", order_id=order_id, reissued=reissued or None))


def _renamed(session: Session, key: OrderKey, names: Names) -> int:
    return renaming.rename(session, lock_order(session, *key), names, context())


@bp.post("/orders/<order_id>/paid")
@page(Action.ISSUE_TICKETS)
def mark_paid(order_id: str) -> Page:
    """Note a payment that has arrived: all that is due, or the amount that was typed."""
    here = current_organisation()
    with parts().database.reading() as session:
        queries.order(session, here, order_id)
    method = method_named(forms.text("method", 20))
    paying.require_noting(method, context())
    try:
        cents = forms.amount("amount", "amount")
    except InvalidRequest as error:
        return _order(order_id, forms.problems_of(error)), error.status
    arrived = Arrived(method, cents, forms.text_or_none("reference", 140), forms.text("note", 1_000))
    paying.receive_or_keep(parts().database, parts().sealer, OrderKey(here, order_id), arrived, context())
    return redirect(url_for("admin.order", order_id=order_id))


@bp.post("/orders/<order_id>/resend")
@page(Action.ISSUE_TICKETS)
def resend(order_id: str) -> WerkzeugResponse:
    """Mail the tickets to the buyer once more."""
    key = OrderKey(current_organisation(), order_id)
    resending.resend(parts(), key, context())
    return redirect(url_for("admin.order", order_id=order_id, sent=1))


@bp.post("/orders/<order_id>/notes")
@page(Action.READ_ORDERS)
def note_order(order_id: str) -> Page:
    """Add a note, which stays."""
    try:
        with parts().database.writing() as session:
            noting.note(session, current_organisation(), order_id, forms.text("note", 1_000), context())
    except InvalidRequest as error:
        return _order(order_id, forms.problems_of(error)), error.status
    return redirect(url_for("admin.order", order_id=order_id))


def change_order(order_id: str, change: Callable[[Session, OrderKey], T]) -> T:
    """Change an order unless it is another than the form has shown."""
    key = OrderKey(current_organisation(), order_id)
    with parts().database.writing() as session:
        forms.require_unchanged(views.view_of(session, lock_order(session, *key), parts().clock()))
        return change(session, key)
