"""/api/public and /api/meta: what everybody may ask without signing in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b

from apiflask import APIBlueprint
from flask import Response, request

from sync_server.accounts.cookies import COOKIE
from sync_server.plumbing.folding import fold
from sync_server.plumbing.parts import parts
from sync_server.programme import answers, schemas

bp = APIBlueprint("programme", __name__, url_prefix="/api", tag="Programme")

FRESH_S = 15
CITIES_FRESH_S = 300


@bp.get("/public/events")
@bp.input(schemas.FeedQuery, location="query")
@bp.output(schemas.FeedView)
def feed(query_data: schemas.FeedQuery) -> Response:
    """Find events of all organisers: by their start, or first those that are trending."""
    return _told(answers.feed(parts(), query_data.question(), query_data.after, query_data.limit), FRESH_S)


@bp.get("/public/events/<name>")
@bp.input(schemas.PageQuery, location="query")
@bp.output(schemas.EventPageView)
def page(name: str, query_data: schemas.PageQuery) -> Response:
    """Show an event by its id, or by its slug and, where several organisers use it, its organisation's."""
    whose = schemas.plain(query_data.organisation) or None
    return _told(answers.page(parts(), schemas.plain(name), whose), FRESH_S)


@bp.get("/meta/cities")
@bp.input(schemas.CitiesQuery, location="query")
@bp.output(schemas.CitiesView)
def cities(query_data: schemas.CitiesQuery) -> Response:
    """Suggest cities whose names begin so, however they are written."""
    return _told(answers.cities(parts(), fold(schemas.plain(query_data.prefix))), CITIES_FRESH_S)


_FOR_STRANGERS: Mapping[str, Callable[..., Response]] = {"events.listing": feed, "events.show": page}


@bp.before_app_request
def _answer_strangers() -> Response | None:
    """The organiser's addresses answer whoever brings neither token nor session as the public ones do."""
    view = _FOR_STRANGERS.get(request.endpoint or "")
    if view is None or COOKIE in request.cookies or "Authorization" in request.headers:
        return None
    words = request.view_args or {}
    answer = view(name=words["event_id"]) if words else view()
    # The same address says something else to those who are signed in.
    answer.headers["Cache-Control"] = f"private, max-age={FRESH_S}"
    answer.vary.update(["Authorization", "Cookie"])
    return answer


def _told(body: bytes, fresh_s: int) -> Response:
    answer = Response(body, content_type="application/json")
    answer.headers["Cache-Control"] = f"public, max-age={fresh_s}"
    answer.set_etag(blake2b(body, digest_size=12).hexdigest())
    answer.make_conditional(request)
    return answer
