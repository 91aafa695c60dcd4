"""/images: pictures for everybody who knows their name, to be remembered for ever."""

from __future__ import annotations

from typing import cast

from apiflask import APIBlueprint
from flask import Response, request

from sync_server.pictures import queries
from sync_server.plumbing.parts import parts

bp = APIBlueprint("pictures", __name__, tag="Pictures")

FOR_EVER = "public, max-age=31536000, immutable"


@bp.get("/images/<picture_id>/<variant>")
@bp.doc(
    summary="Show a picture in one size and form: 320, 800 or 1600 pixels wide, .webp or .jpg",
    responses={200: "The picture", 304: "The one that you have"},
)
def show(picture_id: str, variant: str) -> Response:
    """Show a picture; its name changes with its content, so that it is right for ever."""
    with parts().database.reading() as session:
        found = queries.shown(session, picture_id, variant)
    answer = Response(found.content, content_type=found.content_type)
    answer.set_etag(f"{picture_id}-{variant}")
    answer.headers["Cache-Control"] = FOR_EVER
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.headers["Content-Security-Policy"] = "default-src 'none'"
    answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return cast(Response, answer.make_conditional(request))
