"""/api/live, /api/events/<id>/live and /counters: what happens now, once or as a stream of server-sent events."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from apiflask import APIBlueprint
from flask import Response, current_app, request

from shared.errors import NotFound
from sync_server.accounts import queries as accounts
from sync_server.events import public_queries, summaries
from sync_server.events import queries as events
from sync_server.live import schemas, stream
from sync_server.live.stories import ForAnybody, Memory, OfEvent, OfOrganisation
from sync_server.live.stream import Reader, Story
from sync_server.live.watchers import Watchers, watchers
from sync_server.plumbing import bus
from sync_server.plumbing.parts import Parts, parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.streams import Crowd, streams
from sync_server.plumbing.web import current_principal, organisation, requires

bp = APIBlueprint("live", __name__, url_prefix="/api", tag="Live")

LOOK_EVERY_S = 10.0
LOOK_EVERY_DEAF_S = 1.0
"""Where other processes change things and no Redis tells of it, or none now."""
STREAM = {200: "Server-sent events (text/event-stream)"}


@bp.get("/events/summaries")
@requires(Action.READ)
@bp.input(schemas.SummariesQuery, location="query")
@bp.output(schemas.SummariesOut)
def summaries_of_all(query_data: schemas.SummariesQuery) -> Response:
    """List the events that are published, live or postponed in a few words, for dashboards and dropdowns.

    Remembered for half a minute and forgotten when one changes; `GET /api/events` looks them up every time.
    """
    told = summaries.remembered(parts(), organisation(), query_data.venue_id)
    return Response(told, content_type="application/json")


@bp.get("/events/<event_id>/counters")
@requires(Action.READ)
@bp.output(schemas.BoardOut)
def counters(event_id: str) -> schemas.BoardOut:
    """An event's numbers now."""
    return schemas.BoardOut.of(_watchers().look_anew(organisation(), event_id))


@bp.get("/events/<event_id>/live")
@requires(Action.READ)
@bp.doc(summary="Watch an event", responses=STREAM)
def live(event_id: str) -> Response:
    """An event as server-sent events: its numbers, its facts, its seats.

    `counters` tells all numbers whenever one changes, `status` that the event has walked on, `occupancy` how many seats
    are left; every other fact comes under its own name. `Last-Event-ID` goes on where a reader left, or tells `reset`.
    """
    whose, here = organisation(), parts()
    with here.database.reading() as session:
        event = events.facts(session, whose, event_id)  # a foreign event is not found before a seat is taken
    memory = Memory(here, whose, _last_seen(), event.number)
    topics = [bus.of_event(event.id), bus.of_occupancy(whose, event.number)]
    return _stream(OfEvent(memory, _watchers(), event), topics, Crowd.BROWSER, _still_welcome())


@bp.get("/live")
@requires(Action.READ)
@bp.doc(summary="Watch all events", responses=STREAM)
def live_of_all() -> Response:
    """All events of the organisation as server-sent events: made, changed, walked on.

    Each tells `event_id`, `old_status`, `new_status`, `rescheduled_at` and `replaced_by_event_id`; the statuses are
    null where nothing became of them. `Last-Event-ID` goes on where a reader left, or tells `reset`.
    """
    whose = organisation()
    story = OfOrganisation(Memory(parts(), whose, _last_seen()))
    return _stream(story, [bus.of_organisation(whose)], Crowd.BROWSER, _still_welcome())


@bp.get("/public/events/<event_id>/live")
@bp.doc(summary="Watch a published event", responses=STREAM)
def live_for_anybody(event_id: str) -> Response:
    """A published event as server-sent events, without a login: how many seats are left, and its status."""
    here = parts()
    with here.database.reading() as session:
        facts = public_queries.listed_facts(session, event_id)
    if facts is None or facts.status.value not in public_queries.VISIBLE:
        raise NotFound("There is no such event.", code="event_not_found")

    def visible() -> bool:
        with here.database.reading() as session:
            now = public_queries.listed_facts(session, event_id)
        return now is not None and now.status.value in public_queries.VISIBLE

    topics = [bus.of_event(event_id), bus.of_occupancy(facts.organisation_id, facts.number)]
    return _stream(ForAnybody(here, facts.organisation_id, event_id), topics, Crowd.VISITOR, visible)


def _stream(story: Story, topics: list[str], crowd: Crowd, welcome: Callable[[], bool]) -> Response:
    here, seats = parts(), streams()
    seats.take(crowd)
    reader = Reader(welcome, here.stop, here.monotonic, partial(_look_every_s, here))
    # Listens before it looks: what happens between the two is told, not lost.
    listener = here.bus.listen(topics)
    told = stream.told(story, listener, reader)
    answer = Response(told, content_type="text/event-stream; charset=utf-8")
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["X-Accel-Buffering"] = "no"
    answer.call_on_close(lambda: seats.give_back(crowd))
    answer.call_on_close(listener.close)  # a reader that goes before the first word has not begun to listen
    return answer


def _still_welcome() -> Callable[[], bool]:
    """Asks whether whoever opened the stream may still read in the organisation they opened it for."""
    here, who, whose = parts(), current_principal(), organisation()

    def welcome() -> bool:
        with here.database.reading() as session:
            now = accounts.known_still(session, who, here.clock())
        return now is not None and now.organisation_id == whose and here.may(now, Action.READ)

    return welcome


def _look_every_s(here: Parts) -> float:
    hears_others = here.nearby.hears_others
    told = here.config.embedded or (hears_others is not None and hears_others())
    return LOOK_EVERY_S if told else LOOK_EVERY_DEAF_S


def _last_seen() -> str:
    return request.headers.get("Last-Event-ID", "")


def _watchers() -> Watchers:
    return watchers(current_app, parts())
