"""The page on which an event gets another date: buyers keep their tickets for it, or are asked whether they do."""

from __future__ import annotations

from typing import Final

from flask import redirect, request, url_for
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import Conflict, GatehouseError, InvalidRequest
from shared.lifecycle import EventStatus
from sync_server.admin import forms
from sync_server.admin.lifecycle import touched_by
from sync_server.admin.page import bp, current_organisation, may, page, render_page
from sync_server.cancellations import service as cancellations
from sync_server.cancellations.rules import Choice
from sync_server.cancellations.service import Wanted
from sync_server.events import queries
from sync_server.events.lifecycle import status
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, require

MAY_MOVE: Final = frozenset({EventStatus.PUBLISHED, EventStatus.LIVE, EventStatus.POSTPONED})
"""From these an event can get another date; those that are not postponed yet are postponed with it."""


@bp.get("/events/<event_id>/new-date")
@page(Action.CHANGE_STATUS)
def ask_for_new_date(event_id: str) -> str:
    """Whom another date touches, and what buyers may choose."""
    return _page(event_id)


def _page(event_id: str, problem: str = "") -> str:
    with parts().database.reading() as session:
        event = queries.event(session, current_organisation(), event_id)
        if EventStatus(event.status) not in MAY_MOVE:
            raise Conflict(f"An event that is {event.status} cannot be given another date.", code="invalid_transition")
        touched = touched_by(session, event)
    asks = touched.affected.orders > 0 and may(Action.REFUND_ORDERS)
    shown = {"touched": touched, "asks": asks, "typed": request.form, "problem": problem}
    return render_page("new_date.html", event=event, **shown)


@bp.post("/events/<event_id>/new-date")
@page(Action.CHANGE_STATUS)
def set_new_date(event_id: str) -> str | tuple[str, int] | WerkzeugResponse:
    """Give the event the date as its page has explained it."""
    with parts().database.reading() as session:
        timezone = queries.event(session, current_organisation(), event_id).timezone
    try:
        _set(EventKey(current_organisation(), event_id), timezone)
    except GatehouseError as error:
        return _page(event_id, error.message), error.status
    return redirect(url_for("admin.event", event_id=event_id))


def _set(event: EventKey, timezone: str) -> None:
    at, reason = forms.moment("at", timezone), forms.text("reason", 1_000)
    if at is None:
        raise InvalidRequest("Type the new date and time.", field="at")
    with parts().database.writing() as session:
        if forms.text("choice", 20) == "ask":
            require(Action.REFUND_ORDERS)
            seen, until = forms.number("orders") or 0, forms.moment("keep_until", timezone)
            wanted = Wanted(Choice.ANOTHER_DATE, seen, reason, new_date=at, keep_until=until)
            cancellations.begin(session, event, wanted, context())
            return
        if queries.event(session, *event, lock=True).status != EventStatus.POSTPONED.value:
            status.change_status(session, *event, EventStatus.POSTPONED, context(), reason=reason)
        status.reschedule(session, *event, at, context(), move_times=True, reason=reason)
