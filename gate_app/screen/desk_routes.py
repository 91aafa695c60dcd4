"""The pages of stewards and supervisors, and the address to which they and the command line send what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import tzinfo
from typing import Any

import orjson
import segno
from flask import Flask, Response, render_template, request

from gate_app.display.announcement import announce
from gate_app.screen.hosts import is_here
from gate_app.supervision.desk import Desk
from gate_app.supervision.screens import SCREEN_MS, Role, Screen
from gate_app.words import TEXTS, say
from shared.errors import Forbidden, GatehouseError, InvalidRequest
from shared.words.wording import LANGUAGES, Said, Wording, in_language, wording

KEPT_IN = "gatehouse_screen"
READER_KEPT_IN = "gatehouse_reader"
"""A telephone may be a screen and a reader at once."""
DESK_WORDS = (
    *("nothing_found", "no_admissions", "name_locked", "look", "admit", "override", "annul", "remove", "this_screen"),
    *("steward", "supervisor", "paired_at", "no_contact", "names_on", "seat_unknown", "valid", "cancelled"),
    *("blocked", "unpaid", "info_start", "info_stop", "train_start", "train_stop", "doors_open", "doors_close"),
    *("sure_empty", "link_valid", "print_badge", "reader"),
)


def add_desk(app: Flask, desk: Desk, zone: Callable[[], tzinfo], language: Callable[[], str]) -> None:
    """Adds the pages to the gate's screen."""

    @app.get("/pair")
    def pair_page() -> str:
        return render_template("pair.html", t=wording(TEXTS, language()))

    @app.post("/pair")
    def pair() -> Response:
        def paired() -> Response:
            kept = desk.screens.pair(_text(fields_sent(), "token"))
            screen = desk.screens.of(kept)
            response = as_json({"role": screen.role if screen else ""}, language())
            name = kept_in(READER_KEPT_IN if screen and screen.role is Role.READER else KEPT_IN)
            seconds = SCREEN_MS // 1000
            response.set_cookie(name, kept, max_age=seconds, httponly=True, samesite="Strict", secure=request.is_secure)
            if desk.phones is not None:
                desk.phones.tidy()
            return response

        return answered(paired, language())

    @app.get("/desk")
    def desk_page() -> Response:
        spoken, screen = wording(TEXTS, language()), screen_of(desk)
        if screen is None:
            return not_paired(spoken)
        words = {key: spoken(f"desk_page.{key}") for key in DESK_WORDS}
        words |= {key: spoken(f"loudness.{key}") for key in ("quiet", "aloud")}
        row = {"row": str(spoken.texts["seat.row"]), "seat": str(spoken.texts["seat.seat"])}
        return Response(
            render_template(
                "desk.html", t=spoken, languages=LANGUAGES, role=str(screen.role), words=words | row, chooses=True
            )
        )

    @app.post("/desk/<action>")
    def act(action: str) -> Response:
        def done() -> Response:
            screen = screen_of(desk)
            if screen is None:
                raise Forbidden(say("pairing.not_paired"), code="not_paired")
            answer = desk.perform(action, fields_sent(), screen)
            return as_json(with_pictures(answer, zone(), language(), root_of(desk)), language())

        return answered(done, language())


def not_paired(spoken: Wording) -> Response:
    """The page that says how to pair a screen."""
    return Response(render_template("pair.html", t=spoken), 403)


def screen_of(desk: Desk) -> Screen | None:
    """The paired screen that asks; None for a kiosk, or anybody else."""
    screen = desk.screens.of(request.cookies.get(kept_in(KEPT_IN), ""))
    return screen if screen is not None and screen.role is not Role.READER else None


def reader_of(desk: Desk) -> Screen | None:
    """The paired telephone that asks, as a reader of this gate; None for anybody else."""
    screen = desk.screens.of(request.cookies.get(kept_in(READER_KEPT_IN), ""))
    return screen if screen is not None and screen.role is Role.READER else None


def kept_in(name: str) -> str:
    """Where the browser keeps what it is. What was given over an encrypted connection is never sent over another."""
    return f"{name}_secure" if request.is_secure else name


def root_of(desk: Desk) -> str:
    """Where the browser of a link finds this gate: as the one that asks does, unless only that one can."""
    elsewhere = is_here(request.host) or request.is_secure
    return (desk.address if elsewhere else "") or request.url_root


def with_pictures(answer: dict[str, Any], zone: tzinfo, language: str, root: str) -> dict[str, Any]:
    """An answer with what a page draws: a verdict as screens show it, and a link as a code."""
    if "scan" in answer:
        answer = answer | {"verdict": asdict(in_language(announce(answer["scan"], zone), language))}
    if "token" in answer:
        link = f"{root}{'reader' if answer['role'] is Role.READER else 'pair'}#{answer['token']}"
        rows = ["".join("1" if module else "0" for module in row) for row in segno.make_qr(link).matrix]
        answer = answer | {"link": link, "code": rows}
    return answer


def answered(does: Callable[[], Response], language: str) -> Response:
    """The answer, or the error as a JSON object."""
    try:
        return does()
    except GatehouseError as why:
        return as_json({"error": {"code": why.error_code, "message": why.message}}, language, why.status)


def fields_sent() -> dict[str, Any]:
    """The JSON object that was sent. No form of another website can send one."""
    sent = request.get_json(silent=True) if request.is_json else None
    if not isinstance(sent, dict):
        raise InvalidRequest(say("desk.no_object"), code="not_an_object")
    return sent


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def as_json(content: dict[str, Any], language: str, status: int = 200) -> Response:
    def said(value: object) -> str:
        return in_language(value, language) if isinstance(value, Said) else str(value)

    return Response(
        orjson.dumps(content, default=said, option=orjson.OPT_PASSTHROUGH_SUBCLASS), status, mimetype="application/json"
    )
