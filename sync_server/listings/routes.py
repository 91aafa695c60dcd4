"""/api/public and /api/meta: the public listings, without signing in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b

from apiflask import APIBlueprint
from flask import Response, request

from sync_server.accounts.sign_in.cookies import COOKIE
from sync_server.listings import responses, schemas
from sync_server.plumbing.language.folding import fold
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import current_request, search

bp = APIBlueprint("listings", __name__, url_prefix="/api", tag="Listings")

MAX_AGE_S = 15
CITIES_MAX_AGE_S = 300


@bp.get("/public/events")
@bp.input(schemas.FeedQuery, location="query")
@bp.output(schemas.FeedView)
@search("city", "category", "starts_from", "limit")
def feed(query_data: schemas.FeedQuery) -> Response:
    """Find events of all organisers: by their start, or first those that are trending."""
    return _cacheable(responses.feed(parts(), query_data.criteria(), query_data.after, query_data.limit), MAX_AGE_S)


@bp.get("/public/events/<name>")
@bp.input(schemas.PageQuery, location="query")
@bp.output(schemas.EventPageView)
def page(name: str, query_data: schemas.PageQuery) -> Response:
    """Show an event by its id, or by its slug and, where several organisers use it, its organisation's."""
    organisation = schemas.without_nul(query_data.organisation) or None
    return _cacheable(responses.page(parts(), schemas.without_nul(name), organisation), MAX_AGE_S)


@bp.get("/public/events/<event_id>/similar")
@bp.output(schemas.SimilarView)
def similar(event_id: str) -> Response:
    """Find events of the same city and category on sale within a month: for whoever finds this one sold out."""
    return _cacheable(responses.similar(parts(), schemas.without_nul(event_id)), MAX_AGE_S)


@bp.get("/meta/cities")
@bp.input(schemas.CitiesQuery, location="query")
@bp.output(schemas.CitiesView)
@search("prefix")
def cities(query_data: schemas.CitiesQuery) -> Response:
    """Suggest cities by the beginning of their names; case and accents make no difference."""
    return _cacheable(responses.cities(parts(), fold(schemas.without_nul(query_data.prefix))), CITIES_MAX_AGE_S)


_PUBLIC_VIEWS: Mapping[str, Callable[..., Response]] = {"events.listing": feed, "events.show": page}
FOR_VISITORS: Mapping[str, str] = {name: f"{bp.name}.{view.__name__}" for name, view in _PUBLIC_VIEWS.items()}
"""Whose answer visitors get at the path of another endpoint."""


@bp.before_app_request
def _public_view_for_visitors() -> Response | None:
    """Serve the public response on organisers' paths to clients without a token or session."""
    view = _PUBLIC_VIEWS.get(current_request().endpoint or "")
    if view is None or COOKIE in request.cookies or "Authorization" in request.headers:
        return None
    arguments = request.view_args or {}
    response = view(name=arguments["event_id"]) if arguments else view()
    # The same URL has another response for users who are signed in.
    response.headers["Cache-Control"] = f"private, max-age={MAX_AGE_S}"
    response.vary.update(["Authorization", "Cookie"])
    return response


def _cacheable(body: bytes, max_age_s: int) -> Response:
    response = Response(body, content_type="application/json")
    response.headers["Cache-Control"] = f"public, max-age={max_age_s}, s-maxage=1"
    response.set_etag(blake2b(body, digest_size=12).hexdigest())
    response.make_conditional(request)
    return response
