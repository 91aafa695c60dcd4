"""The gate's web pages and their event stream: guests see verdicts, paired screens also what staff need."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

import orjson
from flask import Flask, Response, render_template, request

from gate_app.display.view import View, for_guests, without_names
from gate_app.screen.desk_routes import (
    KEPT_IN,
    READER_KEPT_IN,
    add_desk,
    kept_in,
    not_paired,
    reader_of,
    screen_of,
)
from gate_app.screen.feed import MAIN, Feed
from gate_app.screen.hosts import host_allowed
from gate_app.screen.live_pictures import NO_PICTURES, LivePictures, add_live_pictures
from gate_app.screen.party_routes import add_party, may_choose
from gate_app.screen.reader_routes import CAMERA_HERE, PAGE, READER_WORDS, add_pictures, add_reader, tones_of_page
from gate_app.screen.typed_routes import add_typed, may_type
from gate_app.supervision.desk import Desk
from gate_app.supervision.screens import Screen
from gate_app.words import TEXTS
from shared.words.wording import LANGUAGES, Wording, in_language, language_of, wording

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
NO_CAMERA = "camera=(), microphone=(), geolocation=()"
PARAMETER, COOKIE, A_YEAR_S = "lang", "gatehouse_language", 365 * 86_400
SCRIPT_WORDS = (
    *("ready", "not_ready", "hold_up", "cannot_admit", "exit", "online", "offline", "offline_idle", "no_contact"),
    *("again", "admit_nobody_else"),
)
Eyes = Callable[[View], View | None]
UNPAIRED = b'data: {"unpaired": true}\n\n'
FEWER_SCREENS = "Too many screens are open at this gate. Close one; this one will retry by itself.\n"
WRONG_NAME = (
    "This gate does not accept that host name. Use its IP address, or add the name to screen_names in gate.toml.\n"
)


def create_screen(
    feed: Feed,
    stop: threading.Event,
    *,
    names: Collection[str] = (),
    most_screens: int = 12,
    pictures: LivePictures = NO_PICTURES,
    language: str = "",
    desk: Desk | None = None,
) -> Flask:
    """The web application over a feed. `stop` ends the streams; `names` are further accepted host names.

    Without a desk, as in a simulation, every screen shows everything: there is nobody to guard.
    """
    here = Path(__file__).parent
    app = Flask("gate_screen", template_folder=str(here / "templates"), static_folder=str(here / "static"))

    @app.before_request
    def refuse_foreign_names() -> Response | None:
        if host_allowed(request.host, names):
            return None
        return Response(WRONG_NAME, 403, mimetype="text/plain")

    @app.after_request
    def protect(response: Response) -> Response:
        response.headers.update(HEADERS)
        response.headers["Permissions-Policy"] = CAMERA_HERE if request.path == PAGE else NO_CAMERA
        return response

    def spoken_here() -> str:
        return language_asked(language)

    add_verdicts(app, desk, spoken_here)
    add_stream(app, feed, stop, desk, spoken_here, most_screens=most_screens)
    if desk is not None:
        add_desk(app, desk, lambda: feed.zone, spoken_here)
        add_pictures(app, desk, spoken_here)
        add_party(app, desk, spoken_here)
        add_typed(app, desk, spoken_here)
    add_live_pictures(app, pictures)
    return app


def add_verdicts(app: Flask, desk: Desk | None, spoken_here: Callable[[], str]) -> None:
    """Adds the pages with the verdict: the one for guests, and the one for stewards."""

    def verdicts(*, staff: bool, reader: Screen | None = None) -> Response:
        spoken = wording(TEXTS, spoken_here())
        seen_as = "&as=reader" if reader else "&as=staff" if staff else ""
        stream = f"/stream?lang={spoken.language}{seen_as}"
        page = render_template(
            "reader.html" if reader else "gate.html",
            reader=reader,
            reader_words={key: spoken(f"phone.{key}") for key in READER_WORDS},
            tones=tones_of_page(),
            t=spoken,
            languages=LANGUAGES,
            words=words_of_script(spoken),
            stream=stream,
            guests=desk is not None and not staff,
            chooses=may_choose(desk),
            types=may_type(desk) and reader is None,
            staff=staff and reader is None,
        )
        response = Response(page)
        if wanted := asked_for():
            # Kept by this browser only: a kiosk that starts again speaks as it did.
            response.set_cookie(COOKIE, wanted, max_age=A_YEAR_S, httponly=True, samesite="Strict")
        return response

    @app.get("/")
    def page() -> Response:
        return verdicts(staff=False)

    @app.get("/steward")
    def steward() -> Response:
        if desk is None or screen_of(desk) is None:
            return not_paired(wording(TEXTS, spoken_here()))
        return verdicts(staff=True)

    if desk is not None:
        add_reader(app, desk, spoken_here, lambda screen: verdicts(staff=True, reader=screen))


def add_stream(
    app: Flask,
    feed: Feed,
    stop: threading.Event,
    desk: Desk | None,
    spoken_here: Callable[[], str],
    *,
    most_screens: int,
) -> None:
    """Adds the state of the gate, once and as a stream; each screen sees what it may."""
    places = threading.BoundedSemaphore(most_screens)

    @app.get("/view")
    def view() -> Response:
        shown = for_guests(feed.view()) if desk else feed.view()
        return Response(packed(shown, spoken_here()), mimetype="application/json")

    @app.get("/stream")
    def stream() -> Response:
        if not places.acquire(blocking=False):
            return Response(FEWER_SCREENS, 503, {"Retry-After": "5"}, mimetype="text/plain")
        told = messages(feed, stop, spoken_here(), eyes_of(desk), lane_of(desk))
        response = Response(told, mimetype="text/event-stream")
        response.call_on_close(places.release)
        return response


def asked_for() -> str:
    """The language that the address asks for, or nothing."""
    wanted = request.args.get(PARAMETER, "")
    return wanted if wanted in LANGUAGES else ""


def language_asked(default: str) -> str:
    """The language of this request: asked for, chosen on this screen before, set for the gate, or the browser's."""
    return language_of(asked_for(), request.cookies.get(COOKIE, ""), default, *request.accept_languages.values())


def words_of_script(spoken: Wording) -> Mapping[str, str]:
    """The words that the page's script shows by itself, in one attribute: no script stands inside the page."""
    return {key: spoken(f"screen.{key}") for key in SCRIPT_WORDS} | {"gate": str(spoken.texts["screen.gate"])}


def eyes_of(desk: Desk | None) -> Eyes:
    """What the screen that asks may see of a view; None once it is no longer paired."""
    if desk is None:
        return lambda view: view
    kept_as = {"staff": KEPT_IN, "reader": READER_KEPT_IN}.get(request.args.get("as", ""))
    if kept_as is None:
        return for_guests
    kept, screens = request.cookies.get(kept_in(kept_as), ""), desk.screens

    def staff(view: View) -> View | None:
        screen = screens.of(kept)
        if screen is None:
            return None
        return view if screens.shows_names(screen) else without_names(view)

    return staff


def lane_of(desk: Desk | None) -> str:
    """Whose guests the screen that asks shows: a telephone that reads tickets shows its own."""
    reader = reader_of(desk) if desk is not None and request.args.get("as") == "reader" else None
    return reader.name if reader else MAIN


def messages(
    feed: Feed, stop: threading.Event, language: str, eyes: Eyes = lambda view: view, lane: str = MAIN
) -> Iterator[bytes]:
    """Server-sent events; each carries the whole state, so there is nothing to resume."""
    yield b"retry: 1000\n\n"
    for view in feed.views(stop, lane=lane):
        seen = eyes(view)
        if seen is None:
            yield UNPAIRED
            return
        yield b"data: " + packed(seen, language) + b"\n\n"


def packed(view: View, language: str) -> bytes:
    """What a screen is sent, in its language."""
    return orjson.dumps(asdict(in_language(view, language)))
