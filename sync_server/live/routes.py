"""/api/live, /api/events/<id>/live and /counters: what is happening now, once or as a stream."""

from __future__ import annotations

from functools import partial

from apiflask import APIBlueprint
from flask import Response, current_app, request

from shared.errors import NotFound
from sync_server.accounts.access import still_allowed
from sync_server.events import public_queries
from sync_server.events import queries as events
from sync_server.events.overviews import summaries
from sync_server.live import schemas, sources
from sync_server.live.counters_cache import CountersCache, counters_cache
from sync_server.live.sources import FactStream
from sync_server.plumbing.api import answers
from sync_server.plumbing.messaging import bus
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import organisation, requires
from sync_server.waiting.handing_over import ReaderKind, Stream, hand_over

bp = APIBlueprint("live", __name__, url_prefix="/api", tag="Live")


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
@bp.doc(
    summary="Watch an event",
    responses=answers.stream("`counters`, `status`, `occupancy`, `reset`, and facts under their names"),
)
def live(event_id: str) -> Response:
    """An event as server-sent events: its counters, its facts, its seats.

    `counters` has all counters whenever one changes, `status` a new status of the event, `occupancy` how many seats
    are left; every other fact comes under its own name. `Last-Event-ID` resumes the stream, or gets `reset`.
    """
    organisation_id, here = organisation(), parts()
    with here.database.reading() as session:
        event = events.details(session, organisation_id, event_id)  # answers 404 before the stream begins
    facts, cache = FactStream(here, organisation_id, event.number), _counters_cache()
    topics = [bus.event_topic(event.id), bus.occupancy_topic(organisation_id, event.number)]
    return hand_over(
        Stream(
            ("event", organisation_id, event.id),
            topics,
            partial(sources.EventSource, facts, cache, event),
            partial(sources.event_opening, facts, cache, event, _last_seen()),
            ReaderKind.BROWSER,
            still_allowed(),
        )
    )


@bp.get("/live")
@requires(Action.READ)
@bp.doc(
    summary="Watch all events",
    responses=answers.stream("`ready`, `status`, `reset`, and facts under their names"),
)
def live_of_all() -> Response:
    """All events of the organisation as server-sent events: created, changed, or in a new status.

    Each has `event_id`, `old_status`, `new_status`, `mark`, `rescheduled_at` and `replaced_by_event_id`; all but the
    first are null if the status did not change. `Last-Event-ID` resumes the stream, or gets `reset`.
    """
    organisation_id = organisation()
    facts = FactStream(parts(), organisation_id)
    return hand_over(
        Stream(
            ("organisation", organisation_id),
            [bus.organisation_topic(organisation_id)],
            partial(sources.OrganisationSource, facts),
            partial(sources.organisation_opening, facts, _last_seen()),
            ReaderKind.BROWSER,
            still_allowed(),
        )
    )


@bp.get("/public/events/<event_id>/live")
@bp.doc(summary="Watch a published event", responses=answers.stream("`status` and `occupancy`"))
def live_for_anybody(event_id: str) -> Response:
    """A published event as server-sent events, without a login: how many seats are left, and its status."""
    here = parts()
    with here.database.reading() as session:
        event = public_queries.listing_fields(session, event_id)
    if event is None or event.status not in events.VISIBLE_STATUSES:
        raise NotFound("There is no such event.", code="event_not_found")
    return hand_over(
        Stream(
            ("public event", event_id),
            [bus.event_topic(event_id), bus.occupancy_topic(event.organisation_id, event.number)],
            partial(sources.PublicEventSource, here, event_id),
            partial(sources.public_opening, here, event.organisation_id, event_id),
            ReaderKind.VISITOR,
        )
    )


def _last_seen() -> str:
    return request.headers.get("Last-Event-ID", "")


def _counters_cache() -> CountersCache:
    return counters_cache(current_app, parts())
