"""Who of a party comes in, chosen on the gate's own screen or on one that is paired."""

from __future__ import annotations

from collections.abc import Callable

from flask import Flask, Response, request

from gate_app.screen.desk_routes import answered, as_json, fields_sent, reader_of, screen_of
from gate_app.supervision.desk import Desk
from gate_app.supervision.screens import FOREVER, Role, Screen
from gate_app.words import say
from shared.errors import Forbidden, NotFound

HERE = Screen("gate", Role.KIOSK, 0, FOREVER)
"""The screen of the gate itself. Its guests hold all the tickets of the party in their hands already."""
LOCAL = frozenset({"127.0.0.1", "::1"})
_ACTIONS = {"choose": "party", "dismiss": "party-end"}


def may_choose(desk: Desk | None) -> bool:
    """Whether the browser that asks may choose: it is on the gate itself, or it is paired."""
    return desk is not None and chooser(desk) is not None


def chooser(desk: Desk) -> Screen | None:
    """The screen that asks; None for an unpaired one elsewhere."""
    return screen_of(desk) or reader_of(desk) or (HERE if is_on_the_gate() else None)


def is_on_the_gate() -> bool:
    """Whether the browser that asks runs on the gate itself."""
    return request.remote_addr in LOCAL


def add_party(app: Flask, desk: Desk, language: Callable[[], str]) -> None:
    """Adds the address to which lists of parties send what was chosen."""

    @app.post("/party/<action>")
    def choose(action: str) -> Response:
        def done() -> Response:
            screen = chooser(desk)
            if screen is None:
                raise Forbidden(say("pairing.not_paired"), code="not_paired")
            if action not in _ACTIONS:
                raise NotFound(say("desk.unknown"), code="unknown_action")
            desk.perform(_ACTIONS[action], fields_sent(), screen)
            return as_json({}, language())

        return answered(done, language())
