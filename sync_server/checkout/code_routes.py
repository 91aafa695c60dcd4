"""/api/events/…/code-batches for organisers, and the ticket types of a shop, which codes open and make cheaper."""

from __future__ import annotations

import csv
import io

from apiflask import APIBlueprint
from flask import Response
from sqlalchemy.orm import Session

from shared.errors import NotFound
from shared.lifecycle import ALLOWS, EventStatus
from sync_server.checkout.codes import batches, code_schemas, guessing, presales, signing, spending
from sync_server.checkout.sessions.rules import BOX_OFFICE
from sync_server.checkout.shop import shop
from sync_server.events import queries as events
from sync_server.holds.shown_codes import shown_codes
from sync_server.plumbing.api import answers
from sync_server.plumbing.api.idempotency import repeatable, run_once
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, current_principal, organisation, requires
from sync_server.tickets import queries as tickets
from sync_server.tickets.types.remaining import remaining_of

bp = APIBlueprint("codes", __name__, url_prefix="/api", tag="Codes")


@bp.after_request
def no_store(response: Response) -> Response:
    """Codes are money, and what they open is not for everybody."""
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.post("/events/<event_id>/code-batches")
@requires(Action.EDIT_EVENTS)
@bp.input(code_schemas.NewBatch)
@bp.output(code_schemas.BatchView, status_code=201)
@bp.doc(summary="Make a batch of codes")
@repeatable
def make(event_id: str, json_data: code_schemas.NewBatch) -> Response:
    """Make discount or presale codes for an event. Their texts are another document, and can be read again."""
    event = EventKey(organisation(), event_id)

    def write(session: Session) -> code_schemas.BatchView:
        return code_schemas.batch_view(batches.make(session, event, json_data.model_dump(), context()), 0)

    return run_once(write)


@bp.get("/events/<event_id>/code-batches")
@requires(Action.READ)
@bp.output(code_schemas.BatchesView)
@bp.doc(summary="List the batches of codes")
def listing(event_id: str) -> code_schemas.BatchesView:
    """List the batches of codes of an event, and how often they are used."""
    event = EventKey(organisation(), event_id)
    with parts().database.reading() as session:
        uses = batches.count_uses(session, event)
        rows = batches.batches(session, event)
        return code_schemas.BatchesView(items=[code_schemas.batch_view(row, uses.get(row.number, 0)) for row in rows])


@bp.get("/events/<event_id>/code-batches/<int:number>/codes")
@requires(Action.EDIT_EVENTS)
@bp.doc(summary="Download the codes of a batch", responses=answers.text("One code a line, as CSV", "text/csv"))
def download(event_id: str, number: int) -> Response:
    """Download the codes of a batch as CSV. Anyone who has a code can use it."""
    event = EventKey(organisation(), event_id)
    with parts().database.reading() as session:
        count = batches.batch(session, event, number).codes
    text = io.StringIO()
    lines = csv.writer(text)
    lines.writerow(["code"])
    lines.writerows([each] for each in signing.codes(parts().sealer, event, number, count))
    named = {"Content-Disposition": f'attachment; filename="codes-{number}.csv"'}
    return Response(text.getvalue(), content_type="text/csv; charset=utf-8", headers=named)


@bp.post("/events/<event_id>/code-batches/<int:number>/revoke")
@requires(Action.EDIT_EVENTS)
@bp.output(code_schemas.BatchView)
@bp.doc(summary="Revoke a batch of codes")
def revoke(event_id: str, number: int) -> code_schemas.BatchView:
    """Withdraw a batch: none of its codes is taken any more. Orders that used one keep their price."""
    event = EventKey(organisation(), event_id)
    with parts().database.writing() as session:
        row = batches.revoke(session, event, number, context())
        return code_schemas.batch_view(row, batches.count_uses(session, event).get(number, 0))


@bp.get("/o/<slug>/events/<event_id>/ticket-types")
@requires(Action.BUY_TICKETS)
@bp.output(code_schemas.OffersView)
@bp.doc(summary="List the ticket types of a shop")
def offers(slug: str, event_id: str) -> code_schemas.OffersView:
    """List what the shop sells of an event. Codes, sent as `X-Codes`, open hidden types."""
    event, texts, now = EventKey(shop(slug), event_id), shown_codes(), parts().clock()
    guessing.require_codes(parts().database, parts().sealer, event, texts, context())
    with parts().database.reading() as session:
        _require_shown(session, event)
        found = spending.redeem(session, parts().sealer, event, texts, now)
        begun = not presales.is_to_begin(session, event, now)
        rows = [row for row in tickets.ticket_types(session, *event) if not row.hidden or row.number in found.opened]
        remaining = remaining_of(session, events.event(session, *event))
        items = [code_schemas.offer_view(row, remaining(row), found, now, begun=begun) for row in rows]
        discount = None if found.discount is None else code_schemas.DiscountView.of(found.discount)
        return code_schemas.OffersView(items=items, discount=discount)


def _require_shown(session: Session, event: EventKey) -> None:
    """NotFound for drafts, which only their organisers see."""
    status = EventStatus(events.event(session, *event).status)
    if current_principal().kind not in BOX_OFFICE and not ALLOWS[status].show:
        raise NotFound("There is no such event.", code="event_not_found")
