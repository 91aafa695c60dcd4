"""What becomes of the buyers of an event that is called off: how far their refunds are, and who is paid by hand."""

from __future__ import annotations

from typing import Any, Final

from flask import redirect, request, url_for
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import InvalidRequest
from sync_server.accounts import queries as accounts
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page, render_page
from sync_server.cancellations import queries, service
from sync_server.checkout.payments import owing
from sync_server.events import queries as events
from sync_server.plumbing.api.pagination import AnId, decode_cursor, encode_cursor
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context

PAGE_SIZE: Final = 50


@bp.get("/events/<event_id>/calling-off")
@page(Action.READ_ORDERS)
def calling_off(event_id: str) -> str:
    """What buyers get, how many of them have it, and whose money the box office has to pay back."""
    start = decode_cursor(request.args.get("after"), AnId)
    with parts().database.reading() as session:
        event = events.event(session, current_organisation(), event_id)
        row = queries.cancellation(session, event.key)
        found = owing.owed(session, event.key, after=start[0] if start else None, limit=PAGE_SIZE + 1)
        shown: dict[str, Any] = {
            "row": row,
            "answers": queries.answers(session, row),
            "back": owing.paying_back(session, event.key),
            "by_hand": owing.owed_in_all(session, event.key),
            "owed": found[:PAGE_SIZE],
            "next": encode_cursor((found[PAGE_SIZE - 1].order.id,)) if len(found) > PAGE_SIZE else None,
            "currency": accounts.organisation(session, current_organisation()).currency,
        }
    return render_page("calling_off.html", event=event, **shown)


@bp.post("/events/<event_id>/calling-off")
@page(Action.REFUND_ORDERS)
def steer_calling_off(event_id: str) -> WerkzeugResponse:
    """Stop dealing with orders, or go on."""
    change = {"stop": service.stop, "resume": service.resume}.get(forms.text("do", 10))
    with parts().database.writing() as session:
        key = events.event(session, current_organisation(), event_id).key
        if change is None:
            raise InvalidRequest("Choose whether to stop or to continue.", field="do")
        change(session, key, context())
    return redirect(url_for("admin.calling_off", event_id=event_id))
