"""The page that makes a telephone a reader of this gate, and the addresses to which it sends its pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from flask import Flask, Response, render_template, request

from gate_app.screen.desk_routes import READER_KEPT_IN, answered, as_json, kept_in, reader_of
from gate_app.supervision.desk import Desk
from gate_app.supervision.phones import PhoneLane, Phones, in_words
from gate_app.supervision.screens import Screen
from gate_app.words import TEXTS, say
from hardware.patterns import TONES
from hardware.ports import Signal
from shared.errors import Conflict, Forbidden, InvalidRequest
from shared.words.wording import wording

PAGE = "/reader"
CAMERA_HERE = "camera=(self), microphone=(), geolocation=()"
READER_WORDS = (
    *("no_camera", "denied", "not_secure", "looking", "sending", "was_read", "no_contact", "light_on", "light_off"),
    *("camera_lost", "over"),
)


def add_reader(app: Flask, desk: Desk, language: Callable[[], str], verdicts: Callable[[Screen], Response]) -> None:
    """Adds the page to the gate's screen; `verdicts` makes it for a telephone that is paired."""

    @app.get(PAGE)
    def reader_page() -> Response:
        screen = reader_of(desk)
        if screen is not None:
            return verdicts(screen)
        spoken = wording(TEXTS, language())
        way = desk.phones.way() if desk.phones else None
        return Response(render_template("pair_reader.html", t=spoken, way=way, secure=request.is_secure))

    @app.post(f"{PAGE}/leave")
    def leave() -> Response:
        def left() -> Response:
            screen = _phones(desk).lane(reader_of(desk)).screen
            desk.screens.remove(screen.id)
            _phones(desk).tidy()
            response = Response(status=204)
            response.delete_cookie(kept_in(READER_KEPT_IN), httponly=True, samesite="Strict", secure=request.is_secure)
            return response

        return answered(left, language())


def add_pictures(app: Flask, desk: Desk, language: Callable[[], str]) -> None:
    """Adds the addresses for the pictures of its camera, and for the word that it is there."""

    @app.post(f"{PAGE}/frame")
    def frame() -> Response:
        def taken() -> Response:
            with _sending(desk) as lane:
                if not lane.reader.frame(_jpeg()):
                    raise InvalidRequest(say("phone.no_picture"), code="no_picture")
            return Response(status=204)

        return answered(taken, language())

    @app.post(f"{PAGE}/photograph")
    def photograph() -> Response:
        def taken() -> Response:
            with _sending(desk) as lane:
                better = lane.reader.photograph(_jpeg())
            return as_json({"read": better is None, "words": in_words(better)}, language())

        return answered(taken, language())

    @app.post(f"{PAGE}/here")
    def here() -> Response:
        def noted() -> Response:
            _phones(desk).lane(reader_of(desk)).reader.sign()
            return Response(status=204)

        return answered(noted, language())


def tones_of_page() -> dict[str, list[tuple[int, int]]]:
    """What a page sounds for each tone of a verdict: pitches and their lengths, as the gate's own loudspeaker."""
    return {str(signal): [(tone.hertz, tone.millis) for tone in TONES[signal]] for signal in Signal if TONES[signal]}


def _phones(desk: Desk) -> Phones:
    if desk.phones is None:
        raise Forbidden(say("phone.not_paired"), code="not_paired")
    return desk.phones


@contextmanager
def _sending(desk: Desk) -> Iterator[PhoneLane]:
    """The lane of the telephone that sends a picture; it sends one at a time."""
    lane = _phones(desk).lane(reader_of(desk))
    if not lane.sending.acquire(blocking=False):
        raise Conflict(say("phone.one_picture"), code="one_picture")
    try:
        yield lane
    finally:
        lane.sending.release()


def _jpeg() -> bytes:
    if request.mimetype != "image/jpeg":
        raise InvalidRequest(say("phone.no_picture"), code="no_picture")
    return request.get_data(cache=False)
