"""Scanners that type into the page: on a laptop their keys go to the window in front, which is the gate's screen."""

from __future__ import annotations

from collections.abc import Callable

from flask import Flask, Response

from gate_app.screen.desk_routes import answered, fields_sent, screen_of
from gate_app.screen.party_routes import is_on_the_gate
from gate_app.supervision.desk import Desk
from gate_app.words import say
from shared.errors import Forbidden, InvalidRequest

LONGEST = 8_192


def may_type(desk: Desk | None) -> bool:
    """Whether what is typed into the page that asks is read: on the gate itself, and on staff's screens."""
    return desk is not None and desk.typed is not None and (is_on_the_gate() or screen_of(desk) is not None)


def add_typed(app: Flask, desk: Desk, language: Callable[[], str]) -> None:
    """Adds the address to which pages send what was typed into them."""

    @app.post("/typed")
    def typed() -> Response:
        def taken() -> Response:
            if desk.typed is None or not may_type(desk):
                raise Forbidden(say("pairing.not_paired"), code="not_paired")
            code = fields_sent().get("code")
            if not isinstance(code, str) or not 0 < len(code) <= LONGEST:
                raise InvalidRequest(say("desk.no_object"), code="no_code")
            desk.typed.type(code)
            return Response(status=204)

        return answered(taken, language())
