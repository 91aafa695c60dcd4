"""/api/o/{slug}/events/…/checkout for guests, and /api/events/…/checkout for organisers."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from sqlalchemy.orm import Session

from sync_server.checkout.codes import presales
from sync_server.checkout.orders import leaving
from sync_server.checkout.sessions import entering, limits, queries, session_schemas
from sync_server.checkout.sessions.queries import Visit
from sync_server.checkout.shop import shop, tab
from sync_server.events import queries as events
from sync_server.holds import ordering
from sync_server.holds.shown_codes import shown_codes
from sync_server.plumbing.api.edits import check_unchanged, tagged
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, current_principal, organisation, requires

bp = APIBlueprint("checkout_sessions", __name__, url_prefix="/api", tag="Checkout")


@bp.after_request
def no_store(response: Response) -> Response:
    """What a guest may do now is nobody else's, and not true for long."""
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.post("/o/<slug>/events/<event_id>/checkout")
@requires(Action.BUY_TICKETS)
@bp.output(session_schemas.SessionView, status_code=201)
@bp.doc(summary="Enter the checkout", responses={200: "You are already in it", 201: "Entered"})
def enter(slug: str, event_id: str) -> tuple[dict[str, Any], int]:
    """Enter the checkout of an event, or go on in it with the time that is left: after a lost connection, too."""
    visit = visit_of(shop(slug), event_id)
    early = presales.opener(parts())(visit.event, shown_codes(), context())
    with parts().database.writing() as session:
        state = ordering.current_state(session, *visit.event)
        ordering.require_on_sale(state, parts().clock(), early=early)
        entered = entering.enter(session, visit, context(), tab=tab(), early=early, queued=state.queued)
        view = session_schemas.session_view(entered.session, parts().clock())
    return view.model_dump(mode="json"), 201 if entered.opened else 200


def visit_of(organisation_id: str, event_id: str) -> Visit:
    """Who sends this request, as a guest of the checkout."""
    principal = current_principal()
    return Visit(EventKey(organisation_id, event_id), principal.kind, principal.id)


@bp.get("/o/<slug>/events/<event_id>/checkout")
@requires(Action.BUY_TICKETS)
@bp.output(session_schemas.SessionView)
@bp.doc(summary="Show your place in the checkout")
def show(slug: str, event_id: str) -> session_schemas.SessionView:
    """Show whether you are still in the checkout, and for how long: ask this after the connection was lost."""
    visit, now = visit_of(shop(slug), event_id), parts().clock()
    with parts().database.reading() as session:
        return session_schemas.session_view(entering.required(queries.open_session(session, visit, now)), now)


@bp.delete("/o/<slug>/events/<event_id>/checkout")
@requires(Action.BUY_TICKETS)
@bp.doc(summary="Leave the checkout", responses={204: "Left"})
def leave(slug: str, event_id: str) -> tuple[str, int]:
    """Leave the checkout of an event. What you ordered there and did not pay is cancelled; others can enter."""
    visit = visit_of(shop(slug), event_id)
    with parts().database.writing() as session:
        leaving.leave(session, visit, context())
    return "", 204


@bp.get("/events/<event_id>/checkout")
@requires(Action.READ)
@bp.output(session_schemas.LimitView)
@bp.doc(summary="Show how many may be in the checkout")
def show_limit(event_id: str) -> session_schemas.LimitView:
    """Show how many guests may be in the checkout of an event at once, and how many are."""
    with parts().database.reading() as session:
        return tagged(_limit_view(session, event_id))


@bp.put("/events/<event_id>/checkout")
@requires(Action.EDIT_EVENTS)
@bp.input(session_schemas.SetLimit)
@bp.output(session_schemas.LimitView)
@bp.doc(summary="Set how many may be in the checkout")
def set_limit(event_id: str, json_data: session_schemas.SetLimit) -> session_schemas.LimitView:
    """Set how many guests may be in the checkout of an event at once. Where it has a queue, as many are let in."""
    with parts().database.writing() as session:
        check_unchanged(lambda: _limit_view(session, event_id))
        limits.set_limit(session, EventKey(organisation(), event_id), json_data.sessions, context())
        return tagged(_limit_view(session, event_id))


def _limit_view(session: Session, event_id: str) -> session_schemas.LimitView:
    event = events.event(session, organisation(), event_id).key
    return session_schemas.LimitView(
        event_id=event_id,
        sessions=queries.limit_of(session, event),
        open=queries.count_open(session, event, parts().clock()),
    )
