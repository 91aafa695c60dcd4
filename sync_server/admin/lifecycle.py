"""The pages on which the status of an event is changed: whom it touches, what they are told, and then the button."""

from __future__ import annotations

from dataclasses import dataclass

from flask import redirect, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import InvalidRequest
from shared.lifecycle import EventStatus, require_transition
from sync_server.accounts import queries as accounts
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page, render_page
from sync_server.admin.readiness import checks
from sync_server.admin.stations import FINAL
from sync_server.cancellations import service as cancellations
from sync_server.cancellations.rules import Choice
from sync_server.cancellations.service import Wanted
from sync_server.checkout.payments import owing
from sync_server.checkout.payments.owing import Affected
from sync_server.devices import queries as devices
from sync_server.devices.rules import is_silent
from sync_server.events import queries
from sync_server.events.lifecycle import status
from sync_server.events.rules import action_for
from sync_server.holds import queries as holds
from sync_server.order_mails import queries as mails
from sync_server.order_mails.queries import Buyers
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, require
from sync_server.scans import queries as scans


@dataclass(frozen=True, slots=True)
class Touched:
    """Whom and what a change of status touches, in numbers."""

    tickets: int
    affected: Affected
    buyers: Buyers
    held: int
    gates: int
    gates_silent: int
    conflicts: int


@bp.get("/events/<event_id>/status")
@page(Action.CALL_OFF)
def ask_to_change(event_id: str) -> str:
    """What a step means and whom it touches, before it is taken."""
    with parts().database.reading() as session:
        event = queries.event(session, current_organisation(), event_id)
        target = _target(request.args.get("target", ""))
        require(action_for(target))
        require_transition(EventStatus(event.status), target)
        first_time = target is EventStatus.PUBLISHED and event.status == EventStatus.DRAFT.value
        touched = _nobody_yet(session, event) if first_time else touched_by(session, event)
        currency = accounts.organisation(session, current_organisation()).currency
        ready = checks(session, event, devices=touched.gates) if first_time else []
    final, asks = target in FINAL, target is EventStatus.CANCELLED and touched.affected.orders > 0
    shown = {"touched": touched, "final": final, "asks": asks, "currency": currency, "ready": ready}
    return render_page("status.html", event=event, target=target.value, **shown)


def _nobody_yet(session: Session, event: queries.Event) -> Touched:
    """Whom publishing touches: nobody could buy a draft, so its orders and holds are not looked for."""
    seen = devices.last_seen_at_event(session, event.key)
    silent = sum(is_silent(parts().clock(), at) for at in seen)
    return Touched(event.tickets_issued, Affected(0, 0, 0, 0, 0), Buyers(0, 0, 0), 0, len(seen), silent, 0)


def touched_by(session: Session, event: queries.Event) -> Touched:
    """Whom a step of this event touches now."""
    now = parts().clock()
    seen = devices.last_seen_at_event(session, event.key)
    return Touched(
        event.tickets_issued,
        owing.affected(session, event.key),
        mails.buyers(parts(), session, event.key),
        holds.count_held(session, [event.key], now).get(event.id, 0),
        len(seen),
        sum(is_silent(now, at) for at in seen),
        scans.open_conflict_count(session, event.key),
    )


@bp.post("/events/<event_id>/walk")
@page(Action.CALL_OFF)
def change_status(event_id: str) -> WerkzeugResponse:
    """Change the status of an event, as its page has explained it."""
    target = _target(request.form.get("target", ""))
    require(action_for(target))
    here, reason, choice = current_organisation(), request.form.get("reason", "")[:1000], forms.text("choice", 20)
    with parts().database.writing() as session:
        if choice:
            if choice not in {Choice.REFUND, Choice.NOTHING}:
                raise InvalidRequest("Choose what buyers get: their money back, or nothing for now.", field="choice")
            seen = forms.number("orders") or 0
            wanted = Wanted(Choice(choice), seen, reason, keep_fees=forms.ticked("keep_fees"))
            cancellations.begin(session, EventKey(here, event_id), wanted, context())
        else:
            status.change_status(session, here, event_id, target, context(), reason=reason)
    return redirect(url_for("admin.calling_off" if choice else "admin.event", event_id=event_id))


def _target(named: str) -> EventStatus:
    if named not in set(EventStatus):
        raise InvalidRequest("There is no such status.", field="target")
    return EventStatus(named)
