"""The gate's web page and its event stream; read-only."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from dataclasses import asdict
from pathlib import Path

import orjson
from flask import Flask, Response, render_template, request

from gate_app.display.view import View
from gate_app.screen.feed import Feed
from gate_app.screen.hosts import host_allowed
from gate_app.screen.live_pictures import NO_PICTURES, LivePictures, add_live_pictures

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
FEWER_SCREENS = "Too many screens are open at this gate. Close one; this one will retry by itself.\n"
WRONG_NAME = (
    "This gate does not accept that host name. Use its IP address, or add the name to screen_names in gate.toml.\n"
)


def create_screen(
    feed: Feed,
    stop: threading.Event,
    names: Collection[str] = (),
    most_screens: int = 12,
    pictures: LivePictures = NO_PICTURES,
) -> Flask:
    """The web application over a feed. `stop` ends the streams; `names` are further accepted host names."""
    here = Path(__file__).parent
    app = Flask("gate_screen", template_folder=str(here / "templates"), static_folder=str(here / "static"))
    places = threading.BoundedSemaphore(most_screens)

    @app.before_request
    def refuse_foreign_names() -> Response | None:
        if host_allowed(request.host, names):
            return None
        return Response(WRONG_NAME, 403, mimetype="text/plain")

    @app.after_request
    def protect(response: Response) -> Response:
        response.headers.update(HEADERS)
        return response

    @app.get("/")
    def page() -> str:
        return render_template("gate.html")

    @app.get("/view")
    def view() -> Response:
        return Response(packed(feed.view()), mimetype="application/json")

    @app.get("/stream")
    def stream() -> Response:
        if not places.acquire(blocking=False):
            return Response(FEWER_SCREENS, 503, {"Retry-After": "5"}, mimetype="text/plain")
        response = Response(messages(feed, stop), mimetype="text/event-stream")
        response.call_on_close(places.release)
        return response

    add_live_pictures(app, pictures)
    return app


def messages(feed: Feed, stop: threading.Event) -> Iterator[bytes]:
    """Server-sent events; each carries the whole state, so there is nothing to resume."""
    yield b"retry: 1000\n\n"
    for view in feed.views(stop):
        yield b"data: " + packed(view) + b"\n\n"


def packed(view: View) -> bytes:
    return orjson.dumps(asdict(view))
