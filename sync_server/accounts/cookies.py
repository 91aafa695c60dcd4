"""The session cookie of staff."""

from __future__ import annotations

from typing import Any

from flask import Response

from sync_server.accounts.signing_in import SignedIn
from sync_server.plumbing.parts import parts

COOKIE = "gatehouse_session"


def set_cookie(response: Response, signed_in: SignedIn) -> None:
    """Set the session cookie."""
    response.set_cookie(
        COOKIE,
        signed_in.token,
        max_age=parts().config.session_hours * 3600,
        secure=parts().config.secure_cookies,
        httponly=True,
        samesite="Lax",
    )


def session_response(signed_in: SignedIn) -> tuple[dict[str, Any], int, dict[str, str]]:
    """The response of the API to signing in."""
    response = Response()
    set_cookie(response, signed_in)
    body = {"csrf_token": signed_in.csrf, "organisation_id": signed_in.organisation_id or None}
    return body, 200, {"Set-Cookie": response.headers["Set-Cookie"]}


def forget_cookie(response: Response) -> None:
    """Delete the session cookie."""
    response.delete_cookie(COOKIE, httponly=True, samesite="Lax", secure=parts().config.secure_cookies)
