"""/o/{slug}/embed.js: the script by which a website shows the shop inside a page of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from flask import Response, current_app, request

from sync_server.storefront.page import bp, page_of

_KEPT: Final = "public, max-age=300"
"""Websites name the script without a version, so that it must not grow old."""


@bp.get("/<slug>/embed.js")
def embed_script(slug: str) -> Response:
    """The element `gatehouse-shop`; it reads from its own address whose shop it shows."""
    page_of(slug, public=True)
    content = (Path(str(current_app.static_folder)) / "shop" / "embed.js").read_bytes()
    response = Response(content, content_type="text/javascript; charset=utf-8")
    response.headers["Cache-Control"] = _KEPT
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    response.add_etag()
    return response.make_conditional(request)  # type: ignore[return-value]  # it is the same response
