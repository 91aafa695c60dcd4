"""The page that refunds an order, whole or in part: it says how much is paid back for what is ticked."""

from __future__ import annotations

from typing import Final

from flask import redirect, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import Conflict, GatehouseError, InvalidRequest
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page, render_page, words
from sync_server.admin.selling.orders import change_order, read_order
from sync_server.checkout.payments import refunding
from sync_server.checkout.payments.methods import METHODS, method_named
from sync_server.checkout.payments.paying import OrderKey
from sync_server.checkout.payments.refunding import Refund
from sync_server.checkout.rules import REFUNDABLE, LineState
from sync_server.checkout.schemas import OrderView
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context

_PAID_BACK_BY_HAND: Final = ("cash", "card", "invoice")
Page = str | tuple[str, int] | WerkzeugResponse


@bp.get("/orders/<order_id>/refund")
@page(Action.REFUND_ORDERS)
def ask_to_refund(order_id: str) -> str:
    """Which tickets are refunded, how much that is, and how it is paid back."""
    return _page(order_id)


def _page(order_id: str, problem: str = "") -> str:
    key = OrderKey(current_organisation(), order_id)
    with parts().database.reading() as session:
        row, view, event = read_order(session, order_id)
        methods = [name for name in METHODS if name == row.method or name in _PAID_BACK_BY_HAND]
        standing = _standing(view)
        chosen = _ticked() & standing if request.method == "POST" else standing
        method = forms.text("method", 20)
        method = method if method in methods else row.method if row.method in methods else methods[0]
        wanted = Refund(METHODS[method], sorted(chosen), forms.ticked("keep_fees"))
        cents = refunding.sum_of(session, key, wanted) if chosen else 0
    shown = {"chosen": chosen, "standing": standing, "wanted": wanted, "cents": cents, "methods": methods}
    return render_page("selling/refund.html", order=view, event=event, problem=problem, typed=request.form, **shown)


def _standing(view: OrderView) -> set[int]:
    """The lines that can be refunded, by their positions."""
    lines = view.lines if view.state in REFUNDABLE else []
    return {line.position for line in lines if line.state == LineState.ISSUED}


def _ticked() -> set[int]:
    return {int(each) for each in request.form.getlist("line") if each.isdecimal() and len(each) < 6}


@bp.post("/orders/<order_id>/refund")
@page(Action.REFUND_ORDERS)
def refund(order_id: str) -> Page:
    """Refund the chosen tickets; their gates refuse them from then on."""
    if forms.only_looks():
        return _page(order_id)
    try:
        positions = sorted(_ticked())
        if not positions:
            raise InvalidRequest(words()("refund.none"), field="line")
        method = method_named(forms.text("method", 20))
        reason, reference = forms.text("reason", 1_000), forms.text_or_none("reference", 140)
        wanted = Refund(method, positions, forms.ticked("keep_fees"), reference, reason)
        change_order(order_id, lambda session, key: _refund(session, key, wanted))
    except GatehouseError as error:
        return _page(order_id, error.message), error.status
    return redirect(url_for("admin.order", order_id=order_id))


def _refund(session: Session, key: OrderKey, wanted: Refund) -> None:
    """Refund as much as the button has said; Conflict if that is another sum than what is ticked comes to."""
    said = forms.number("sum")
    if said is not None and said != refunding.sum_of(session, key, wanted):
        raise Conflict(words()("refund.another_sum"), code="another_sum")
    refunding.refund(session, key, wanted, context())
