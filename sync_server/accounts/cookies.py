"""The cookie by which a browser session is known."""

from __future__ import annotations

from flask import Response

from sync_server.accounts.signing_in import SignedIn
from sync_server.plumbing.parts import parts

COOKIE = "gatehouse_session"


def set_cookie(answer: Response, signed_in: SignedIn) -> None:
    """Give the browser what it must show from now on."""
    answer.set_cookie(
        COOKIE,
        signed_in.token,
        max_age=parts().config.session_hours * 3600,
        secure=parts().config.secure_cookies,
        httponly=True,
        samesite="Lax",
    )


def forget_cookie(answer: Response) -> None:
    """Take it back."""
    answer.delete_cookie(COOKIE, httponly=True, samesite="Lax", secure=parts().config.secure_cookies)
