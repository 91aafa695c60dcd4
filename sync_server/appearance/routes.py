"""/accents: the accents of organisers and events as stylesheets, because no page has styles of its own."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response

from shared.errors import NotFound
from sync_server.appearance import accents
from sync_server.images.urls import IMMUTABLE

bp = APIBlueprint("appearance", __name__, enable_openapi=False)


@bp.get("/accents/<colour>.css")
def accent(colour: str) -> Response:
    """The stylesheet of an accent: the same for everybody, and for ever, as its address changes with its content."""
    if not accents.COLOUR.fullmatch(colour):
        raise NotFound("There is no such colour.", code="colour_not_found")
    response = Response(accents.stylesheet(colour), content_type="text/css; charset=utf-8")
    response.headers["Cache-Control"] = IMMUTABLE
    return response
