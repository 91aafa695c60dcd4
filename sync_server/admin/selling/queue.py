"""The virtual queue of an event: given and taken away, its rate, who waits, and the draw that everybody can check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from flask import redirect, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.clock import Millis
from shared.errors import GatehouseError
from sync_server.accounts import queries as accounts
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page, render_page
from sync_server.checkout.sessions import limits
from sync_server.checkout.sessions.queries import limit_of
from sync_server.checkout.sessions.session_schemas import SetLimit
from sync_server.events import queries as events
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context
from sync_server.queueing import admission, queries, rules, schemas, service
from sync_server.queueing.rules import Opening

SHOWN: Final = 20
Page = str | tuple[str, int] | WerkzeugResponse


@dataclass(frozen=True, slots=True)
class Inside:
    """Who is in the queue now, and how fast it moves."""

    waiting: int
    shopping: int
    bought: int
    gone: int
    admitted_lately: int
    last_waits: tuple[int, int] | None  # seconds, at least and at most, of whoever stands at the end
    next_numbers: list[int]


@bp.get("/events/<event_id>/queue")
@page()
def event_queue(event_id: str) -> str:
    """What the queue does now, or what one would do."""
    return _page(event_id, {})


def _page(event_id: str, problems: dict[str, str], template: str = "selling/queue.html") -> str:
    now = parts().clock()
    with parts().database.reading() as session:
        event = events.event(session, current_organisation(), event_id)
        row = queries.find_queue(session, *event.key)
        shown: dict[str, Any] = {
            "queue": row,
            "opening": None if row is None else queries.opening(event, row),
            "inside": None if row is None else _inside(session, row, now),
            "slots": limit_of(session, event.key),
            "shop": accounts.organisation(session, event.organisation_id).slug,
        }
    shown["etag"] = "" if row is None else _view(row, shown["opening"]).etag
    shown["seed"] = service.seed_of(row, parts().sealer).hex() if row is not None and row.drawn_at is not None else ""
    shown["stage"] = "" if row is None else _stage(row, shown["opening"], now)
    return render_page(template, event=event, problems=problems, **shown)


def _view(row: queries.Queue, opening: Opening) -> schemas.QueueView:
    return schemas.queue_view(row, opening, {})


def _inside(session: Session, row: queries.Queue, now: Millis) -> Inside:
    here = row.organisation_id, row.event_id
    by_state = queries.count_by_state(session, *here)
    numbers = queries.waiting_numbers(session, *here, now)
    lately = queries.count_admitted_since(session, *here, now - rules.RATE_MS)
    waits = rules.wait_between_s(len(numbers), lately) if numbers and row.paused_at is None else None
    gone = by_state.get("left", 0) + by_state.get("expired", 0)
    waiting, shopping, bought = (by_state.get(state, 0) for state in ("waiting", "admitted", "spent"))
    return Inside(waiting, shopping, bought, gone, lately, waits, numbers[:SHOWN])


def _stage(row: queries.Queue, opening: Opening, now: Millis) -> str:
    """Where the queue is: `closed`, `room`, `drawing`, `moving`, `paused` or `over`."""
    if now > opening.ends_at:
        return "over"
    if row.drawn_at is not None:
        return "paused" if row.paused_at is not None else "moving"
    if now < opening.room_at:
        return "closed"
    return "drawing" if now >= opening.draw_at else "room"


@bp.post("/events/<event_id>/queue")
@page(Action.EDIT_EVENTS)
def set_queue(event_id: str) -> Page:
    """Give the event a queue, or change how fast it lets people in."""
    here = current_organisation()
    written = {
        "per_minute": forms.number("per_minute") if forms.text("per_minute", 12) else 0,
        "pass_minutes": forms.number("pass_minutes"),
        "room_minutes": forms.number("room_minutes"),
        "beacon_source": forms.text("beacon_source", 200),
    }
    try:
        with parts().database.writing() as session:
            event = events.event(session, here, event_id, lock=True)
            row = queries.find_queue(session, *event.key)
            if row is not None:
                forms.require_unchanged(_view(row, queries.opening(event, row)))
            fields = forms.read(schemas.SetQueue, written).model_dump()
            service.set_queue(session, here, event_id, fields, context(), sealer=parts().sealer)
            asked = forms.read(SetLimit, {"sessions": forms.number("sessions")}).sessions
            if asked != limit_of(session, event.key):
                limits.set_limit(session, event.key, asked, context())
    except GatehouseError as error:
        return _page(event_id, forms.problems_of(error)), error.status
    return _back(event_id)


def _back(event_id: str) -> WerkzeugResponse:
    return redirect(url_for("admin.event_queue", event_id=event_id))


@bp.post("/events/<event_id>/queue/pause")
@page(Action.EDIT_EVENTS)
def pause_queue(event_id: str) -> Page:
    """Admit nobody for now; places stay."""
    with parts().database.writing() as session:
        service.pause(session, current_organisation(), event_id, context())
    return _back(event_id)


@bp.post("/events/<event_id>/queue/resume")
@page(Action.EDIT_EVENTS)
def resume_queue(event_id: str) -> Page:
    """Admit again."""
    with parts().database.writing() as session:
        service.resume(session, current_organisation(), event_id, context())
        admission.advance(session, current_organisation(), event_id, parts().sealer, context())
    return _back(event_id)


@bp.post("/events/<event_id>/queue/beacon")
@page(Action.EDIT_EVENTS)
def tell_beacon(event_id: str) -> Page:
    """Tell the value of the public random round that was named, which draws the order."""
    here = current_organisation()
    try:
        value = forms.read(schemas.BeaconValue, {"value": forms.text("value", 200)}).value
        with parts().database.writing() as session:
            admission.advance(session, here, event_id, parts().sealer, context())
            service.set_beacon(session, here, event_id, value, context())
            admission.advance(session, here, event_id, parts().sealer, context())
    except GatehouseError as error:
        return _page(event_id, forms.problems_of(error)), error.status
    return _back(event_id)


@bp.get("/events/<event_id>/queue/remove")
@page(Action.EDIT_EVENTS)
def ask_to_remove_queue(event_id: str) -> str:
    """What taking the queue away means, in numbers."""
    with parts().database.reading() as session:
        queries.queue(session, current_organisation(), event_id)
    return _page(event_id, {}, "selling/queue_remove.html")


@bp.post("/events/<event_id>/queue/remove")
@page(Action.EDIT_EVENTS)
def remove_queue(event_id: str) -> Page:
    """Take the queue away: everybody may buy at once."""
    with parts().database.writing() as session:
        service.remove_queue(session, current_organisation(), event_id, context())
    return _back(event_id)
