"""/api/o/{slug}/events/…/queue for guests, and /api/events/…/queue for organisers."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from typing import Any, Final
from uuid import UUID

import orjson
from apiflask import APIBlueprint
from flask import Response
from sqlalchemy.orm import Session

from shared.errors import Conflict, NotFound, NotSignedIn
from sync_server.accounts import queries as accounts
from sync_server.events import queries as events
from sync_server.plumbing.api import answers
from sync_server.plumbing.api.edits import check_unchanged, tagged
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, current_principal, organisation, requires, signed_in
from sync_server.queueing import admission, guest_places, queries, schemas, service
from sync_server.queueing.figures import queue_figures
from sync_server.queueing.models import EventQueueRow, QueueEntryRow

bp = APIBlueprint("queue", __name__, url_prefix="/api", tag="Queue")

LINES: Final = 1_000


@bp.put("/events/<event_id>/queue")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.SetQueue)
@bp.output(schemas.QueueView)
@bp.doc(summary="Give an event a queue")
def set_queue(event_id: str, json_data: schemas.SetQueue) -> schemas.QueueView:
    """Give an event a queue, or change it. From then on guests hold seats only when it is their turn."""
    with parts().database.writing() as session:
        if queries.is_queued(session, organisation(), event_id):
            check_unchanged(lambda: _queue_view(session, event_id))
        service.set_queue(session, organisation(), event_id, json_data.model_dump(), context(), sealer=parts().sealer)
        return tagged(_queue_view(session, event_id))


@bp.get("/events/<event_id>/queue")
@requires(Action.READ)
@bp.output(schemas.QueueView)
@bp.doc(summary="Show the queue of an event")
def show_queue(event_id: str) -> schemas.QueueView:
    """Show the queue of an event, and how many are in it."""
    with parts().database.reading() as session:
        return tagged(_queue_view(session, event_id))


@bp.delete("/events/<event_id>/queue")
@requires(Action.EDIT_EVENTS)
@bp.doc(summary="Take the queue of an event away", responses={204: "Everybody may buy"})
def remove_queue(event_id: str) -> tuple[str, int]:
    """Take the queue away, as long as no order was drawn."""
    with parts().database.writing() as session:
        service.remove_queue(session, organisation(), event_id, context())
    return "", 204


@bp.post("/events/<event_id>/queue/pause")
@requires(Action.EDIT_EVENTS)
@bp.output(schemas.QueueView)
@bp.doc(summary="Pause the queue")
def pause(event_id: str) -> schemas.QueueView:
    """Admit nobody until the queue goes on. Places stay, and whoever was admitted may finish."""
    with parts().database.writing() as session:
        service.pause(session, organisation(), event_id, context())
        return tagged(_queue_view(session, event_id))


@bp.post("/events/<event_id>/queue/resume")
@requires(Action.EDIT_EVENTS)
@bp.output(schemas.QueueView)
@bp.doc(summary="Let the queue go on")
def resume(event_id: str) -> schemas.QueueView:
    """Admit again, from where the queue was paused."""
    with parts().database.writing() as session:
        service.resume(session, organisation(), event_id, context())
        admission.advance(session, organisation(), event_id, parts().sealer, context())
        return tagged(_queue_view(session, event_id))


@bp.put("/events/<event_id>/queue/beacon")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.BeaconValue)
@bp.output(schemas.QueueView)
@bp.doc(summary="Tell the value of the public random round")
def set_beacon(event_id: str, json_data: schemas.BeaconValue) -> schemas.QueueView:
    """Tell the value of the public random round that was named beforehand, and draw the order."""
    with parts().database.writing() as session:
        admission.advance(session, organisation(), event_id, parts().sealer, context())  # it may be time to close
        service.set_beacon(session, organisation(), event_id, json_data.value, context())
        admission.advance(session, organisation(), event_id, parts().sealer, context())
        return tagged(_queue_view(session, event_id))


def _queue_view(session: Session, event_id: str) -> schemas.QueueView:
    event = events.event(session, organisation(), event_id)
    queue = queries.queue(session, organisation(), event_id)
    by_state = queries.count_by_state(session, organisation(), event_id)
    return schemas.queue_view(queue, queries.opening(event, queue), by_state)


@bp.post("/o/<slug>/events/<event_id>/queue")
@signed_in
@bp.output(schemas.PlaceView, status_code=201)
@bp.doc(summary="Join the queue", responses={200: "You have a place already", 201: "Joined"})
def join(slug: str, event_id: str) -> tuple[dict[str, Any], int]:
    """Join the queue of an event. Joining again returns the place that you have."""
    organisation_id, guest_id = _guest(slug)
    joined = guest_places.join(EventKey(organisation_id, event_id), guest_id)
    return _shown(organisation_id, event_id, joined.entry), 201 if joined.created else 200


@bp.get("/o/<slug>/events/<event_id>/queue")
@signed_in
@bp.output(schemas.PlaceView)
@bp.doc(summary="Show your place in the queue")
def place(slug: str, event_id: str) -> dict[str, Any]:
    """Show your place in the queue, and keep it: ask again every `ask_again_seconds`."""
    organisation_id, guest_id = _guest(slug)
    return _shown(organisation_id, event_id, _entry(organisation_id, event_id, guest_id))


@bp.delete("/o/<slug>/events/<event_id>/queue")
@signed_in
@bp.doc(summary="Leave the queue", responses={204: "Left"})
def leave(slug: str, event_id: str) -> tuple[str, int]:
    """Leave the queue; rejoining is possible after an hour."""
    organisation_id, guest_id = _guest(slug)
    with parts().database.writing() as session:
        service.leave(session, organisation_id, event_id, guest_id, context())
    return "", 204


@bp.post("/o/<slug>/events/<event_id>/queue/pass")
@signed_in
@bp.input(schemas.TakePass)
@bp.output(schemas.PlaceView)
@bp.doc(summary="Take your pass")
def take_pass(slug: str, event_id: str, json_data: schemas.TakePass) -> dict[str, Any]:
    """Bind your turn to this tab. Holds send the same secret as `X-Queue-Tab`; other tabs cannot hold seats."""
    organisation_id, guest_id = _guest(slug)
    tab_hash, now = sha256(json_data.tab.encode()).digest(), parts().clock()
    with parts().database.writing() as session:
        entry = service.take_pass(session, organisation_id, event_id, guest_id, tab_hash=tab_hash, now=now)
    return _shown(organisation_id, event_id, entry)


@bp.get("/o/<slug>/events/<event_id>/queue/receipt")
@signed_in
@bp.output(schemas.ReceiptView)
@bp.doc(summary="Prove that you take part in the draw")
def receipt(slug: str, event_id: str) -> schemas.ReceiptView:
    """The proof that your entry is among those of the draw, once the waiting room has closed."""
    organisation_id, guest_id = _guest(slug)
    entry = _entry(organisation_id, event_id, guest_id)
    figures = queue_figures(parts()).of(organisation_id, event_id)
    if figures.closed_at is None or not entry.in_draw:
        raise Conflict(
            "There is no proof: the waiting room is still open, or you joined after it closed.", code="not_in_draw"
        )
    tree = queue_figures(parts()).tree(organisation_id, event_id, figures.closed_at)
    steps = [
        schemas.ProofStepView(side="left" if step.left else "right", hash=step.hash.hex())
        for step in tree.proof(UUID(entry.id).bytes)
    ]
    return schemas.ReceiptView(entry=entry.id, root=tree.root.hex(), proof=steps)


@bp.get("/o/<slug>/events/<event_id>/queue/draw")
@bp.output(schemas.DrawView)
@bp.doc(summary="Show the draw")
def show_draw(slug: str, event_id: str) -> schemas.DrawView:
    """What is published of the draw by now; its entries are another document."""
    return schemas.draw_view(*_draw(slug, event_id))


@bp.get("/o/<slug>/events/<event_id>/queue/draw/entries")
@bp.doc(
    summary="Download the draw",
    responses=answers.text("The file that scripts/verify_draw.py reads", "text/plain"),
)
def draw_entries(slug: str, event_id: str) -> Response:
    """Download the whole draw, to recompute it: a line of JSON, then one entry a line in the order of service."""
    queue, seed = _draw(slug, event_id)
    if seed is None:
        raise Conflict("The order has not been drawn yet.", code="not_drawn")
    with parts().database.reading() as session:
        entries = queries.drawn_entries(session, queue.organisation_id, event_id)
    head = orjson.dumps(schemas.draw_head(queue, seed)) + b"\n"
    lines = (entry.replace("-", "") + "\n" for entry in entries)
    named = {"Content-Disposition": f'attachment; filename="draw-{event_id}.txt"'}
    return Response(_in_pieces(head, lines), content_type="text/plain; charset=us-ascii", headers=named)


def _in_pieces(head: bytes, lines: Iterator[str]) -> Iterator[bytes]:
    yield head
    while piece := "".join(islice(lines, LINES)):
        yield piece.encode()


def _draw(slug: str, event_id: str) -> tuple[EventQueueRow, bytes | None]:
    """The queue, and its seed where that may be known."""
    with parts().database.reading() as session:
        shop = accounts.organisation_by_slug(session, slug)
        queue = queries.find_queue(session, shop.id, event_id) if shop is not None else None
    if queue is None:
        raise NotFound("This event has no queue.", code="queue_not_found")
    return queue, service.seed_of(queue, parts().sealer) if queue.drawn_at is not None else None


def _guest(slug: str) -> tuple[str, str]:
    """The organisation and the guest of this request, whose session must be one of this shop."""
    principal = current_principal()
    with parts().database.autocommit_reading() as session:
        shop = accounts.organisation_by_slug(session, slug)
    if principal.kind != "guest" or shop is None or shop.id != principal.organisation_id:
        raise NotSignedIn("Start a guest session of this shop first.", code="no_session")
    return principal.organisation_id, principal.id


def _entry(organisation_id: str, event_id: str, guest_id: str) -> QueueEntryRow:
    entry = guest_places.find(EventKey(organisation_id, event_id), guest_id)
    if entry is None:
        queue_figures(parts()).of(organisation_id, event_id)  # NotFound where there is no queue
        raise NotFound("You are not in this queue. Join it first.", code="not_in_queue")
    return entry


def _shown(organisation_id: str, event_id: str, entry: QueueEntryRow) -> dict[str, Any]:
    return guest_places.current(EventKey(organisation_id, event_id), entry).model_dump(mode="json")
