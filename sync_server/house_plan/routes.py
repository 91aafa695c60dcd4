"""/api/events/…/seatmap and /occupancy: a house for pages and machines, and what changes in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from apiflask import APIBlueprint
from flask import Response, request

from shared.errors import InvalidRequest
from sync_server.house_plan import attendance, counters, deeds, schemas
from sync_server.house_plan.answers import ENCODINGS, Packed
from sync_server.house_plan.board import Sheet
from sync_server.house_plan.pictures import Look
from sync_server.house_plan.stream import Reader
from sync_server.house_plan.viewers import Viewer, viewer
from sync_server.house_plan.wiring import board
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.streams import Crowd, streams
from sync_server.plumbing.web import deed, organisation, requires
from sync_server.seating.bitmap import pack

bp = APIBlueprint("house_plan", __name__, url_prefix="/api/events/<event_id>", tag="Seat maps")

FOR_EVER = "max-age=31536000, immutable"
JSON = "application/json"


@bp.get("/seatmap")
@bp.output(schemas.MapView)
def whole(event_id: str) -> Response:
    """Everything that a page needs to draw an event's house: the plan, and the state with its version."""
    return _sheet(event_id, Sheet.WHOLE)


@bp.get("/seatmap/plan")
@bp.input(schemas.PlanQuery, location="query")
@bp.doc(summary="The plan alone", responses={200: "The plan"})
def plan(event_id: str, query_data: schemas.PlanQuery) -> Response:
    """What changes with the layout only: zones, rows, seats and where they stand.

    Asked for by its name (`v`) it may be kept for ever.
    """
    who = viewer(board().glances.look(event_id))
    with parts().database.reading() as session:
        drawn = board().pictures.plan(session, who.organisation_id, event_id)
    return _answered(drawn, who, FOR_EVER if query_data.v == drawn.name else "")


@bp.get("/seatmap/state")
@bp.doc(summary="The state alone", responses={200: "The state"})
def state(event_id: str) -> Response:
    """How it stands with every seat and zone now: two bits a seat, as base64."""
    return _sheet(event_id, Sheet.STATE)


@bp.get("/seatmap/bits")
@bp.doc(summary="The state for machines", responses={200: "Two bits a seat (application/octet-stream)"})
def bits(event_id: str) -> Response:
    """How it stands with every seat now: two bits a seat, bare; headers say version, first seat and how many."""
    with _looking(event_id) as (who, look):
        shown = look.seats(organiser=who.organiser)
        answer = Response(pack(shown), content_type="application/octet-stream")
        answer.headers["X-Seatmap-Version"] = str(look.mark)
        answer.headers["X-Seatmap-First"] = str(look.picture.ground.first)
        answer.headers["X-Seatmap-Count"] = str(len(shown))
        return _for_whom(answer, who)


@bp.get("/seatmap/changes")
@bp.input(schemas.ChangesQuery, location="query")
@bp.output(schemas.ChangesView)
def changes(event_id: str, query_data: schemas.ChangesQuery) -> Response:
    """What changed since a version: at once, after up to `wait` seconds, or as a stream of server-sent events.

    A stream is sent to whoever accepts `text/event-stream`; `Last-Event-ID` goes on where a reader left.
    """
    since = request.headers.get("Last-Event-ID", "") or query_data.since
    if not since:
        raise InvalidRequest("since: name the version that you know, from the map's state.", field="since")
    who = viewer(board().glances.look(event_id))
    reader = Reader(parts(), board(), who, since)
    if request.accept_mimetypes.best_match([JSON, "text/event-stream"]) == "text/event-stream":
        return _streamed(reader)
    if not query_data.wait:
        return _for_whom(Response(reader.look().text, content_type=JSON), who)
    with streams().seat(_crowd(who)):
        return _for_whom(Response(reader.wait(query_data.wait).text, content_type=JSON), who)


@bp.post("/seatmap/blocked")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.Blocking)
@bp.output(schemas.BlockedView)
def block(event_id: str, json_data: schemas.Blocking) -> schemas.BlockedView:
    """Take seats out of the sale of an event, or put them back; what is sold or held cannot be blocked."""
    change = deeds.Change(frozenset(json_data.block), frozenset(json_data.open))
    with parts().database.writing() as session:
        count, changed = deeds.block(session, organisation(), event_id, change, deed())
    return schemas.BlockedView(blocked=count, changed=changed)


@bp.delete("/seatmap/holds/<int:seat>")
@requires(Action.ISSUE_TICKETS)
@bp.doc(summary="Give up the hold on a seat", responses={204: "Given up"})
def give_up(event_id: str, seat: int) -> tuple[str, int]:
    """Give up what somebody holds, by the seat's number in the plan; whoever holds it may have been about to pay."""
    with parts().database.writing() as session:
        deeds.give_up(session, organisation(), event_id, seat, deed())
    return "", 204


@bp.get("/occupancy")
@bp.output(schemas.OccupancyView)
def occupancy(event_id: str) -> dict[str, object]:
    """How full an event is, zone by zone: what is available, held and sold, in numbers and in percent."""
    who = viewer(board().glances.look(event_id))
    with parts().database.reading() as session:
        counter = counters.Counter(parts().cache, board().pictures)
        now = counter.counts(session, who.organisation_id, event_id, parts().clock())
    return counters.told(now, organiser=who.organiser)


@bp.get("/days/<date>/seats")
@requires(Action.READ)
@bp.output(schemas.DayView)
def seats_of_day(event_id: str, date: str) -> schemas.DayView:
    """Whose seats are taken on one event day, by the scans at the doors: who is inside, and who was and has left."""
    with parts().database.reading() as session:
        found = attendance.seats_of_day(session, organisation(), event_id, date, parts().clock())
    return schemas.DayView.of(found)


def _sheet(event_id: str, which: Sheet) -> Response:
    seen = board().glances.look(event_id)
    who = viewer(seen)
    return _answered(board().sheet(seen, which, organiser=who.organiser), who)


@contextmanager
def _looking(event_id: str) -> Iterator[tuple[Viewer, Look]]:
    who = viewer(board().glances.look(event_id))
    with (
        parts().database.reading() as session,
        board().pictures.look(session, who.organisation_id, event_id, parts().clock()) as look,
    ):
        yield who, look


def _crowd(who: Viewer) -> Crowd:
    return Crowd.BROWSER if who.organiser else Crowd.VISITOR


def _streamed(reader: Reader) -> Response:
    reader.look()  # a house that is not there is not found before a seat is taken
    seats, crowd = streams(), _crowd(reader.viewer)
    seats.take(crowd)
    answer = Response(reader.frames(), content_type="text/event-stream; charset=utf-8")
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["X-Accel-Buffering"] = "no"
    answer.call_on_close(lambda: seats.give_back(crowd))
    return answer


def _answered(packed: Packed, who: Viewer, keep: str = "") -> Response:
    """Packed as whoever asks takes it; 304 where they have it already."""
    encoding = next((each for each in ENCODINGS if request.accept_encodings.quality(each) > 0), "")
    answer = _for_whom(Response(content_type=JSON), who, keep)
    # Weak: what another process answers says the same, but not in the same bytes.
    answer.set_etag(f"{packed.name}{'-o' if who.organiser else ''}-{encoding or 'plain'}", weak=True)
    answer.make_conditional(request)
    if answer.status_code == 200:
        answer.set_data(packed.by(encoding))
        if encoding:
            answer.headers["Content-Encoding"] = encoding
    return answer


def _for_whom(answer: Response, who: Viewer, keep: str = "") -> Response:
    whose = "public" if who.shown and not who.organiser else "private"
    answer.headers["Cache-Control"] = f"{whose}, {keep or 'no-cache'}"
    answer.vary.update(["Accept-Encoding", "Authorization", "Cookie"])
    return answer
