"""/api/events/…/seatmap and /occupancy: the seat map of an event, its changes, and its occupancy.

/api/public/events/… has what a crowd repeats, the same for everybody, so that shared caches may keep it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

import orjson
from apiflask import APIBlueprint
from flask import Response, request

from shared.errors import InvalidRequest
from sync_server.accounts.access import still_allowed
from sync_server.events.rules import mark
from sync_server.plumbing.api import answers
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires
from sync_server.seat_maps import attendance, counters, editing, schemas
from sync_server.seat_maps.map_cache import MapSnapshot
from sync_server.seat_maps.map_inputs import MapInputs
from sync_server.seat_maps.map_json import ENCODINGS, EncodedJson
from sync_server.seat_maps.map_responses import ResponseKind
from sync_server.seat_maps.stream import MapReading
from sync_server.seat_maps.viewers import Viewer, viewer, visitor
from sync_server.seat_maps.wiring import map_responses
from sync_server.seating.bitmap import pack
from sync_server.waiting.handing_over import hand_over, may_wait

bp = APIBlueprint("seat_maps", __name__, url_prefix="/api/events/<event_id>", tag="Seat maps")
public_bp = APIBlueprint(
    "public_seat_maps", __name__, url_prefix="/api/public/events/<event_id>", tag="Seat maps for everybody"
)

IMMUTABLE = "max-age=31536000, immutable"
FOR_A_SECOND = "max-age=0, s-maxage=1"
JSON = "application/json"


@bp.get("/seatmap")
@public_bp.get("/seatmap")
@bp.input(schemas.DayQuery, location="query")
@bp.output(schemas.MapView)
def full_map(event_id: str, query_data: schemas.DayQuery) -> Response:
    """Everything that a page needs to draw the map of an event: the plan, and the state with its version.

    At an event of several days a seat is free there if it is on all of them; `day` asks for one.
    """
    return _map_response(event_id, ResponseKind.FULL, query_data.day)


@bp.get("/seatmap/plan")
@public_bp.get("/seatmap/plan")
@bp.input(schemas.PlanQuery, location="query")
@bp.output(schemas.PlanView)
@bp.doc(summary="The plan alone")
def plan(event_id: str, query_data: schemas.PlanQuery) -> Response:
    """What changes with the layout only: zones, rows, seats and their positions.

    Requested by its name (`v`), it may be cached for ever.
    """
    inputs = map_responses().inputs.load(event_id)
    who = _viewer(inputs)
    found = map_responses().maps.drawing(inputs, who.organisation_id)
    return _encoded(found, who, IMMUTABLE if query_data.v == found.name else "")


@bp.get("/seatmap/state")
@public_bp.get("/seatmap/state")
@bp.input(schemas.DayQuery, location="query")
@bp.output(schemas.StateView)
@bp.doc(summary="The state alone")
def state(event_id: str, query_data: schemas.DayQuery) -> Response:
    """The state of every seat and zone now: two bits per seat, as base64."""
    return _map_response(event_id, ResponseKind.STATE, query_data.day)


@bp.get("/seatmap/bits")
@bp.input(schemas.DayQuery, location="query")
@bp.doc(summary="The state for machines", responses=answers.files("Two bits per seat", "application/octet-stream"))
def bits(event_id: str, query_data: schemas.DayQuery) -> Response:
    """The state of every seat now: two bits per seat, as raw bytes; headers give version, first seat and count."""
    with _snapshot(event_id, query_data.day) as (who, snapshot):
        seats = snapshot.seats(organiser=who.organiser)
        response = Response(pack(seats), content_type="application/octet-stream")
        response.headers["X-Seatmap-Version"] = str(snapshot.version)
        response.headers["X-Seatmap-First"] = "1"
        response.headers["X-Seatmap-Count"] = str(len(seats))
        return _with_caching(response)


@bp.get("/seatmap/changes")
@bp.input(schemas.ChangesQuery, location="query")
@bp.output(schemas.ChangesView)
def changes(event_id: str, query_data: schemas.ChangesQuery) -> Response:
    """What changed since a version: at once, after up to `wait` seconds, or as a stream of server-sent events.

    Accept `text/event-stream` to get a stream; `Last-Event-ID` resumes it.
    """
    since = request.headers.get("Last-Event-ID", "") or query_data.since
    if not since:
        raise InvalidRequest("since: give the version that you have, from the map's state.", field="since")
    inputs = map_responses().inputs.load(event_id)
    who = viewer(inputs)
    reading = MapReading(parts(), map_responses(), who, query_data.day or "")
    if request.accept_mimetypes.best_match([JSON, "text/event-stream"]) == "text/event-stream":
        reading.recent_changes(since)  # answers 404 before the stream begins
        return hand_over(reading.stream(since, still_allowed() if who.organiser else None))
    response = _with_caching(Response(reading.changes(since).text, content_type=JSON))
    if query_data.wait or may_wait():
        return hand_over(reading.long_poll(since, query_data.wait), response)
    return response


@bp.post("/seatmap/blocked")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.Blocking)
@bp.output(schemas.BlockedView)
def block(event_id: str, json_data: schemas.Blocking) -> schemas.BlockedView:
    """Take seats off sale for an event, or put them back on sale; sold or held seats cannot be blocked."""
    change = editing.BlockingChange(frozenset(json_data.block), frozenset(json_data.open))
    with parts().database.writing() as session:
        count, changed = editing.block(session, organisation(), event_id, change, context())
    return schemas.BlockedView(blocked=count, changed=changed)


@bp.delete("/seatmap/holds/<int:seat>")
@requires(Action.ISSUE_TICKETS)
@bp.input(schemas.DayQuery, location="query")
@bp.doc(summary="Release the hold on a seat", responses={204: "Released"})
def release_hold(event_id: str, seat: int, query_data: schemas.DayQuery) -> tuple[str, int]:
    """Release somebody's hold, by the seat's number in the plan; its holder may be about to pay.

    With `day` only a hold that is for that day, among others; else all of the seat's.
    """
    with parts().database.writing() as session:
        editing.release_hold(session, organisation(), event_id, seat, query_data.day or "", context())
    return "", 204


@bp.get("/occupancy")
@public_bp.get("/occupancy")
@bp.input(schemas.DayQuery, location="query")
@bp.output(schemas.OccupancyView)
def occupancy(event_id: str, query_data: schemas.DayQuery) -> Response:
    """How full an event is, zone by zone: available, held and sold, in numbers and percentages.

    At an event of several days what is available is so on all of them; `day` asks for one.
    """
    inputs = map_responses().inputs.load(event_id)
    who = _viewer(inputs)
    counter = counters.OccupancyCounter(parts().database, parts().cache, map_responses().maps)
    day, now = query_data.day or "", parts().clock()
    counts = counter.payload(who.organisation_id, event_id, day, now, organiser=who.organiser)
    payload = {"mark": mark(inputs), **counts}
    response = _with_caching(Response(orjson.dumps(payload), content_type=JSON))
    # Weak: when it was counted makes no difference.
    response.set_etag(blake2b(orjson.dumps({**payload, "as_of": None}), digest_size=12).hexdigest(), weak=True)
    response.make_conditional(request)
    return response


@bp.get("/days/<date>/seats")
@requires(Action.READ)
@bp.output(schemas.DayView)
def seats_of_day(event_id: str, date: str) -> schemas.DayView:
    """Attendance on one event day, by the scans at the gates: seats whose guests are inside, or were and have left."""
    with parts().database.reading() as session:
        found = attendance.seats_of_day(session, organisation(), event_id, date, parts().clock())
    return schemas.DayView.of(found)


def _map_response(event_id: str, kind: ResponseKind, day: str | None) -> Response:
    inputs = map_responses().inputs.load(event_id)
    who = _viewer(inputs)
    return _encoded(map_responses().response(inputs, kind, inputs.days(day or ""), organiser=who.organiser), who)


def _viewer(inputs: MapInputs) -> Viewer:
    return visitor(inputs) if _is_for_everybody() else viewer(inputs)


def _is_for_everybody() -> bool:
    return request.blueprint == public_bp.name


@contextmanager
def _snapshot(event_id: str, day: str | None) -> Iterator[tuple[Viewer, MapSnapshot]]:
    inputs = map_responses().inputs.load(event_id)
    who, days = viewer(inputs), inputs.days(day or "")
    with map_responses().maps.snapshot(inputs, who.organisation_id, parts().clock(), days) as snapshot:
        yield who, snapshot


def _encoded(document: EncodedJson, who: Viewer, caching: str = "") -> Response:
    """In the encoding that the client prefers; 304 if they have it already."""
    encoding = next((each for each in ENCODINGS if request.accept_encodings.quality(each) > 0), "")
    response = _with_caching(Response(content_type=JSON), caching)
    # Weak: another process sends the same content, but not the same bytes.
    response.set_etag(f"{document.name}{'-o' if who.organiser else ''}-{encoding or 'plain'}", weak=True)
    response.make_conditional(request)
    if response.status_code == 200:
        response.set_data(document.encode(encoding))
        if encoding:
            response.headers["Content-Encoding"] = encoding
    return response


def _with_caching(response: Response, caching: str = "") -> Response:
    """Only the public addresses may be kept by shared caches: some of those ignore `Vary: Cookie`."""
    if _is_for_everybody():
        response.headers["Cache-Control"] = f"public, {caching or FOR_A_SECOND}"
        response.vary.add("Accept-Encoding")
    else:
        response.headers["Cache-Control"] = f"private, {caching or 'no-cache'}"
        response.vary.update(["Accept-Encoding", "Authorization", "Cookie"])
    return response
