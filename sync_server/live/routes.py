"""/api/events/<id>/live and /counters: an event's numbers, once or as a stream."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response, current_app, request

from sync_server.live import schemas, stream
from sync_server.live.watchers import Watchers, watchers
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.streams import Crowd, streams
from sync_server.plumbing.web import organisation, requires

bp = APIBlueprint("live", __name__, url_prefix="/api/events", tag="Live")


@bp.get("/<event_id>/counters")
@requires(Action.READ)
@bp.output(schemas.BoardOut)
def counters(event_id: str) -> schemas.BoardOut:
    """An event's numbers now."""
    return schemas.BoardOut.of(_watchers().look_anew(organisation(), event_id))


@bp.get("/<event_id>/live")
@requires(Action.READ)
@bp.doc(summary="Watch an event", responses={200: "Server-sent events (text/event-stream)"})
def live(event_id: str) -> Response:
    """An event's numbers as server-sent events.

    `counters` tells all numbers whenever one changes, `status` that the event has walked on; `Last-Event-ID` goes on
    where a reader left.
    """
    whose, watching = organisation(), _watchers()
    watching.look(whose, event_id)  # a foreign event is not found before a seat is taken
    seats = streams()
    seats.take(Crowd.BROWSER)
    told = stream.frames(
        lambda: watching.look(whose, event_id),
        parts().stop,
        request.headers.get("Last-Event-ID", ""),
    )
    answer = Response(told, content_type="text/event-stream; charset=utf-8")
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["X-Accel-Buffering"] = "no"
    answer.call_on_close(lambda: seats.give_back(Crowd.BROWSER))
    return answer


def _watchers() -> Watchers:
    return watchers(current_app, parts())
