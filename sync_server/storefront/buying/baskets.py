"""What a visitor chose and typed at an event beside the holds, and the tab of the queue; a sealed cookie.

Codes are worth money, so they stand in no address; and nothing here is believed: the order checks everything anew.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import orjson
from flask import Response, request

from shared.errors import StorageError
from sync_server.plumbing.parts import parts
from sync_server.storefront.page import Page

MAX_CODES: Final = 5
_PURPOSE: Final = "shop basket"
_LASTS_S: Final = 2 * 3_600
_MOST_BYTES: Final = 3_000


@dataclass(slots=True)
class Basket:
    """The choices at one event."""

    event_id: str
    types: dict[str, int] = field(default_factory=dict)  # how many places of each ticket type, by its number
    days: dict[str, list[str]] = field(default_factory=dict)  # of each ticket type, by date; none: every day
    seats: dict[str, int] = field(default_factory=dict)  # the ticket type of each seat, by its hold
    codes: list[str] = field(default_factory=list)
    tab: str = ""  # the secret of the tab that has the pass of the queue
    typed: dict[str, str] = field(default_factory=dict)  # in the form of the buyer, by field
    checked: bool = False  # the next page says what is wrong with it
    problem: str = ""  # what the next page says instead

    def count_of(self, number: int) -> int:
        """How many places of a ticket type."""
        return self.types.get(str(number), 0)

    def dates_of(self, number: int) -> tuple[str, ...]:
        """The days for which places of a ticket type are wanted; none for every day."""
        return tuple(self.days.get(str(number), ()))


def cookie_name(page: Page) -> str:
    """The cookie of one shop."""
    return f"gatehouse_basket_{page.shop.slug.replace('-', '_')}"


def basket_of(page: Page, event_id: str) -> Basket:
    """What was chosen at this event; nothing where the cookie is of another, or damaged."""
    stored = _opened(request.cookies.get(cookie_name(page), ""))
    return Basket(**stored) if stored.get("event_id") == event_id else Basket(event_id)


def _opened(text: str) -> dict[str, Any]:
    try:
        sealed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)) if text else b""
        return dict(orjson.loads(parts().sealer.open(sealed, _PURPOSE))) if sealed else {}
    except (StorageError, binascii.Error, ValueError):
        return {}


def remember(response: Response, page: Page, basket: Basket) -> Response:
    """Keep the choices in the browser."""
    plain = orjson.dumps(asdict(basket))
    if len(plain) <= _MOST_BYTES:
        text = base64.urlsafe_b64encode(parts().sealer.seal(plain, _PURPOSE)).decode().rstrip("=")
        response.set_cookie(cookie_name(page), text, max_age=_LASTS_S, path=page.shop.at, **_flags())
    return response


def forget(response: Response, page: Page) -> Response:
    """The choices are ordered, or given up."""
    response.delete_cookie(cookie_name(page), path=page.shop.at, **_flags())
    return response


def _flags() -> dict[str, Any]:
    return {"secure": parts().config.secure_cookies, "httponly": True, "samesite": "Lax"}
