"""Browsers in which somebody has signed in before: whoever guesses elsewhere does not slow them down.

The cookie is no credential. It is bound to one login, and only says that its limit is the browser's own.
"""

from __future__ import annotations

import hmac
from hashlib import sha256

from flask import Response, request

from sync_server.accounts import rules
from sync_server.plumbing.parts import parts

_PURPOSE = "known browser"


def recognise(login: str) -> str | None:
    """The id of this browser, if its cookie for this login is ours and not too old."""
    id, _, rest = request.cookies.get(_name(login), "").partition(".")
    made_at, _, mark = rest.partition(".")
    if not made_at.isdecimal() or not made_at.isascii() or not hmac.compare_digest(mark, _mark(login, id, made_at)):
        return None
    return id if parts().clock() - int(made_at) < rules.KNOWN_BROWSER_MS else None


def remember(response: Response, login: str) -> None:
    """Let this browser be known to the login that has just signed in with it."""
    id, made_at = parts().entropy(16).hex(), str(parts().clock())
    response.set_cookie(
        _name(login),
        f"{id}.{made_at}.{_mark(login, id, made_at)}",
        max_age=rules.KNOWN_BROWSER_MS // 1000,
        secure=parts().config.secure_cookies,
        httponly=True,
        samesite="Lax",
    )


def _name(login: str) -> str:
    """Each login of a browser has its own; the name does not tell whose."""
    return f"gatehouse_known_{sha256(login.encode()).hexdigest()[:12]}"


def _mark(login: str, id: str, made_at: str) -> str:
    return parts().sealer.keyed_hash(f"{login}\0{id}\0{made_at}", _PURPOSE)
