"""/o/{slug}/orders/…: the page that shows an order's tickets on a phone, to whoever has the link.

The secret stands behind the # of the link, where no server sees it: the page itself is the same for everybody, and its
script asks for the tickets with the secret in a header.
"""

from __future__ import annotations

from typing import Final

from apiflask import APIBlueprint
from flask import Response, current_app, make_response, render_template, request

from sync_server.ticket_files.page_words import PAGE_WORDS
from sync_server.ticket_files.words import language_of

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; font-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

WORKER_POLICY: Final = "default-src 'none'; connect-src 'self'"

bp = APIBlueprint("ticket_page", __name__, url_prefix="/o", template_folder="templates", enable_openapi=False)


@bp.get("/<slug>/orders/<order_id>")
def show(slug: str, order_id: str) -> Response:
    """Show the page, without anything of the order."""
    language = language_of(*(request.accept_languages.best_match([*PAGE_WORDS], default=""),))
    page = render_template(
        "tickets/page.html",
        language=language,
        words=PAGE_WORDS[language],
        api=f"/api/o/{slug}/orders/{order_id}",
    )
    response = make_response(page)
    response.headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Robots-Tag"] = "noindex"
    response.headers["Vary"] = "Accept-Language"
    return response


@bp.get("/<_slug>/orders/offline.js")
def worker(_slug: str) -> Response:
    """The script that opens the page where there is no network; from here it may answer for pages of orders only."""
    response = current_app.send_static_file("ticket-offline.js")
    response.headers["Content-Security-Policy"] = WORKER_POLICY
    response.headers["Cache-Control"] = "no-cache"
    return response
