"""What is done at the desk with the browsers that are screens or readers of this gate."""

from __future__ import annotations

from typing import Any, Protocol

from gate_app.supervision.fields import Answer, Fields, direction_of, text_of
from gate_app.supervision.phones import Phones
from gate_app.supervision.screens import Role, Screen, Screens
from gate_app.words import say
from shared.errors import Conflict, InvalidRequest


class ScreenDesk(Protocol):
    """What of the desk this needs."""

    screens: Screens
    phones: Phones | None

    def supervisor(self, fields: Fields) -> Any:
        """Who acts, by the PIN that was typed. Raises Forbidden."""
        ...


def pair(desk: ScreenDesk, fields: Fields, _screen: Screen) -> Answer:
    """A link for another screen, or for a telephone that reads tickets."""
    try:
        role = Role(text_of(fields, "role"))
    except ValueError:
        role = Role.KIOSK
    if role is Role.KIOSK:
        raise InvalidRequest(say("desk.which_role"), code="unknown_role")
    if role is Role.READER:
        return _pair_reader(desk, fields)
    if role is Role.SUPERVISOR:
        desk.supervisor(fields)
    return {"token": desk.screens.link(role), "role": role}


def paired(desk: ScreenDesk, _fields: Fields, screen: Screen) -> Answer:
    """The screens and readers that are paired."""
    lines = [
        {
            "id": one.id,
            "role": one.role,
            "name": one.name,
            "paired_at": one.paired_at,
            "until": one.until,
            "this": one.id == screen.id,
        }
        for one in desk.screens.paired()
    ]
    return {"screens": lines}


def unpair(desk: ScreenDesk, fields: Fields, screen: Screen) -> Answer:
    """Ends a screen or a reader, such as a lost telephone."""
    desk.screens.remove(text_of(fields, "screen"))
    if desk.phones is not None:
        desk.phones.tidy()
    return paired(desk, fields, screen)


def _pair_reader(desk: ScreenDesk, fields: Fields) -> Answer:
    if desk.phones is None:
        raise Conflict(say("phone.no_pages"), code="no_pages")
    way = desk.phones.require_room()
    token = desk.screens.link(Role.READER, text_of(fields, "name"), direction_of(fields) or "")
    return {"token": token, "role": Role.READER, "fingerprint": way.fingerprint}
