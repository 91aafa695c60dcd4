"""/api/live, /api/events/<id>/live and /counters: what is happening now, once or as a stream."""

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
from sync_server.live.counters_cache import CountersCache, counters_cache
from sync_server.live.sources import EventSource, OrganisationSource, PublicEventSource, ReplayPosition
from sync_server.live.stream import Reader, StreamSource
from sync_server.plumbing.api.open_streams import StreamKind, streams
from sync_server.plumbing.messaging import bus
from sync_server.plumbing.parts import Parts, parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import current_principal, organisation, requires

bp = APIBlueprint("live", __name__, url_prefix="/api", tag="Live")

POLL_INTERVAL_S = 10.0
POLL_INTERVAL_WITHOUT_BUS_S = 5.0
"""While other processes make changes that the bus does not announce."""
STREAM = {200: "Server-sent events (text/event-stream)"}


@bp.get("/events/summaries")
@requires(Action.READ)
@bp.input(schemas.SummariesQuery, location="query")
@bp.output(schemas.SummariesOut)
def summaries_of_all(query_data: schemas.SummariesQuery) -> Response:
    """List published, live and postponed events in short form, for dashboards and dropdowns.

    Cached for half a minute, or until one of them changes; `GET /api/events` is always current.
    """
    body = summaries.cached_summaries(parts(), organisation(), query_data.venue_id)
    return Response(body, content_type="application/json")


@bp.get("/events/<event_id>/counters")
@requires(Action.READ)
@bp.output(schemas.EventCountersOut)
def counters(event_id: str) -> schemas.EventCountersOut:
    """The counters of an event now."""
    return schemas.EventCountersOut.of(_counters_cache().query(organisation(), event_id))


@bp.get("/events/<event_id>/live")
@requires(Action.READ)
@bp.doc(summary="Watch an event", responses=STREAM)
def live(event_id: str) -> Response:
    """An event as server-sent events: its counters, its facts, its seats.

    `counters` has all counters whenever one changes, `status` a new status of the event, `occupancy` how many seats
    are left; every other fact comes under its own name. `Last-Event-ID` resumes the stream, or gets `reset`.
    """
    organisation_id, here = organisation(), parts()
    with here.database.reading() as session:
        event = events.details(session, organisation_id, event_id)  # answers 404 before a stream slot is taken
    position = ReplayPosition(here, organisation_id, _last_seen(), event.number)
    topics = [bus.event_topic(event.id), bus.occupancy_topic(organisation_id, event.number)]
    return _stream(EventSource(position, _counters_cache(), event), topics, StreamKind.BROWSER, _still_allowed())


@bp.get("/live")
@requires(Action.READ)
@bp.doc(summary="Watch all events", responses=STREAM)
def live_of_all() -> Response:
    """All events of the organisation as server-sent events: created, changed, or in a new status.

    Each has `event_id`, `old_status`, `new_status`, `rescheduled_at` and `replaced_by_event_id`; the statuses are
    null if the status did not change. `Last-Event-ID` resumes the stream, or gets `reset`.
    """
    organisation_id = organisation()
    source = OrganisationSource(ReplayPosition(parts(), organisation_id, _last_seen()))
    return _stream(source, [bus.organisation_topic(organisation_id)], StreamKind.BROWSER, _still_allowed())


@bp.get("/public/events/<event_id>/live")
@bp.doc(summary="Watch a published event", responses=STREAM)
def live_for_anybody(event_id: str) -> Response:
    """A published event as server-sent events, without a login: how many seats are left, and its status."""
    here = parts()
    with here.database.reading() as session:
        event = public_queries.listing_fields(session, event_id)
    if event is None or event.status.value not in events.VISIBLE_STATUSES:
        raise NotFound("There is no such event.", code="event_not_found")

    def visible() -> bool:
        with here.database.reading() as session:
            now = public_queries.listing_fields(session, event_id)
        return now is not None and now.status.value in events.VISIBLE_STATUSES

    topics = [bus.event_topic(event_id), bus.occupancy_topic(event.organisation_id, event.number)]
    return _stream(PublicEventSource(here, event.organisation_id, event_id), topics, StreamKind.VISITOR, visible)


def _stream(source: StreamSource, topics: list[str], kind: StreamKind, allowed: Callable[[], bool]) -> Response:
    here, slots = parts(), streams()
    slots.acquire(kind)
    reader = Reader(allowed, here.stop, here.monotonic, partial(_poll_interval_s, here))
    # Listens before the first query: what happens between the two is sent, not lost.
    listener = here.bus.listen(topics)
    text = stream.stream_text(source, listener, reader)
    response = Response(text, content_type="text/event-stream; charset=utf-8")
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    response.call_on_close(lambda: slots.release(kind))
    response.call_on_close(listener.close)  # a reader that leaves before the first frame never enters the generator
    return response


def _still_allowed() -> Callable[[], bool]:
    """A check whether the user may still read in the organisation that they opened the stream for."""
    here, user, organisation_id = parts(), current_principal(), organisation()

    def allowed() -> bool:
        with here.database.reading() as session:
            now = accounts.refreshed_principal(session, user, here.clock())
        return now is not None and now.organisation_id == organisation_id and here.may(now, Action.READ)

    return allowed


def _poll_interval_s(here: Parts) -> float:
    bus_connected = here.backends.bus_connected
    announced = here.config.embedded or (bus_connected is not None and bus_connected())
    return POLL_INTERVAL_S if announced else POLL_INTERVAL_WITHOUT_BUS_S


def _last_seen() -> str:
    return request.headers.get("Last-Event-ID", "")


def _counters_cache() -> CountersCache:
    return counters_cache(current_app, parts())
