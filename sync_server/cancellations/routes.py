"""/api/events/…/cancellation, and /api/o/{slug}/orders/…/new-date: calling events off, and the buyers' answers."""

from __future__ import annotations

from typing import Final

from apiflask import APIBlueprint
from flask import Response
from sqlalchemy.orm import Session

from shared.ids import as_id
from sync_server.cancellations import others, queries, schemas, service
from sync_server.cancellations.models import CancellationRow
from sync_server.cancellations.rules import Answer, Choice
from sync_server.checkout import queries as orders
from sync_server.checkout.payments import owing
from sync_server.checkout.payments.paying import OrderKey
from sync_server.checkout.shop import for_buyer
from sync_server.events import queries as events
from sync_server.events import rules as event_rules
from sync_server.plumbing.api.idempotency import repeatable, run_once
from sync_server.plumbing.api.pagination import AnId, PageQuery, decode_cursor, encode_cursor
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, require, requires

bp = APIBlueprint("cancellations", __name__, url_prefix="/api/events/<event_id>/cancellation", tag="Calling off")
shop_bp = APIBlueprint("new_dates", __name__, url_prefix="/api/o/<slug>/orders/<order_id>", tag="Buying")
_PATH: Final = "/new-date"


def _key(event_id: str) -> EventKey:
    return EventKey(organisation(), event_id)


@bp.get("/affected")
@requires(Action.READ_ORDERS)
@bp.input(schemas.AffectedQuery, location="query")
@bp.output(schemas.AffectedView)
def affected(event_id: str, query_data: schemas.AffectedQuery) -> schemas.AffectedView:
    """Show how many orders, tickets and cents are affected if the event is called off; nothing changes."""
    with parts().database.reading() as session:
        event = events.event(session, organisation(), event_id)
        found = owing.affected(session, event.key, keep_fees=query_data.keep_fees)
        return schemas.affected_view(found, event_rules.mark(event), others.count(session, event.key))


@bp.post("")
@requires(Action.CALL_OFF)
@bp.input(schemas.CallOff)
@bp.output(schemas.CancellationView, status_code=202)
@repeatable
def begin(event_id: str, json_data: schemas.CallOff) -> Response:
    """Call the event off, and choose what its buyers get: the money back, another date, or neither."""
    wanted = json_data.wanted()
    if wanted.choice is not Choice.NOTHING:
        require(Action.REFUND_ORDERS)

    def write(session: Session) -> schemas.CancellationView:
        return _view(session, service.begin(session, _key(event_id), wanted, context()))

    return run_once(write, status=202)


@bp.get("")
@requires(Action.READ_ORDERS)
@bp.output(schemas.CancellationView)
def show(event_id: str) -> schemas.CancellationView:
    """Show what was chosen, how far the refunds are, and what the box office has to pay back."""
    with parts().database.reading() as session:
        return _view(session, queries.cancellation(session, _key(event_id)))


@bp.post("/stop")
@requires(Action.REFUND_ORDERS)
@bp.output(schemas.CancellationView)
def stop(event_id: str) -> schemas.CancellationView:
    """Let no further order be refunded, or offered the date; what was asked of payment services goes on."""
    with parts().database.writing() as session:
        return _view(session, service.stop(session, _key(event_id), context()))


@bp.post("/resume")
@requires(Action.REFUND_ORDERS)
@bp.output(schemas.CancellationView)
def resume(event_id: str) -> schemas.CancellationView:
    """Go on with the orders that are left; or once all were tried, with those that failed."""
    with parts().database.writing() as session:
        return _view(session, service.resume(session, _key(event_id), context()))


@bp.get("/owed")
@requires(Action.READ_ORDERS)
@bp.input(PageQuery, location="query")
@bp.output(schemas.OwedListView)
def owed(event_id: str, query_data: PageQuery) -> schemas.OwedListView:
    """List the orders whose money the box office has to pay back: cash, cards at its terminal, transfers."""
    start, limit = decode_cursor(query_data.after, AnId), query_data.limit
    with parts().database.reading() as session:
        event = events.event(session, organisation(), event_id)
        found = owing.owed(session, event.key, after=start[0] if start else None, limit=limit + 1)
    following = encode_cursor((found[limit - 1].order.id,)) if len(found) > limit else None
    return schemas.OwedListView(items=[schemas.owed_view(each) for each in found[:limit]], next=following)


def _view(session: Session, row: CancellationRow) -> schemas.CancellationView:
    event = events.event(session, row.organisation_id, row.event_id)
    money, hand = owing.paying_back(session, event.key), owing.owed_in_all(session, event.key)
    return schemas.cancellation_view(row, event_rules.mark(event), money, hand, queries.answers(session, row))


@shop_bp.get(_PATH)
@for_buyer
@shop_bp.output(schemas.OfferView)
def offer(key: OrderKey) -> schemas.OfferView:
    """Show the other date that is offered for the tickets of an order, and until when its buyer may choose."""
    with parts().database.reading() as session:
        return _offer(session, key)


@shop_bp.post(_PATH)
@for_buyer
@shop_bp.input(schemas.AnswerBody)
@shop_bp.output(schemas.OfferView)
def answer(key: OrderKey, json_data: schemas.AnswerBody) -> schemas.OfferView:
    """Keep the tickets for the new date, or have the money back. Without an answer they are kept."""
    with parts().database.writing() as session:
        event = orders.order(session, *key).event
        service.answer(session, key, event, Answer(json_data.answer), context())
        return _offer(session, key)


def _offer(session: Session, key: OrderKey) -> schemas.OfferView:
    order = orders.order(session, key.organisation_id, as_id(key.order_id))
    row = service.offered(session, order.event, context().now)
    chosen = queries.answer_of(session, row, order.id)
    is_open = row.keep_until is not None and context().now <= row.keep_until and chosen != Answer.REFUND
    return schemas.OfferView.of(row, answer=chosen, open=is_open)
