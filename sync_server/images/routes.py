"""/images: images for everybody who knows their id, cacheable for ever."""

from __future__ import annotations

from typing import cast

from apiflask import APIBlueprint
from flask import Response, request

from sync_server.images import queries
from sync_server.images.urls import IMMUTABLE
from sync_server.plumbing.api import answers
from sync_server.plumbing.parts import parts

bp = APIBlueprint("images", __name__, tag="Pictures")


@bp.get("/images/<image_id>/<variant>")
@bp.doc(
    summary="Show a picture in one size and format: 320, 800 or 1600 pixels wide, .webp or .jpg",
    responses=answers.files("The picture", "image/webp", "image/jpeg") | answers.NOT_MODIFIED,
)
def show(image_id: str, variant: str) -> Response:
    """Show a picture; its id changes with its content, so it can be cached for ever."""
    with parts().database.reading() as session:
        found = queries.image_variant(session, image_id, variant)
    response = Response(found.content, content_type=found.content_type)
    response.set_etag(f"{image_id}-{variant}")
    response.headers["Cache-Control"] = IMMUTABLE
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = "default-src 'none'"
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return cast(Response, response.make_conditional(request))
