"""The session cookie of staff."""

from __future__ import annotations

from typing import Any

from flask import Response
from werkzeug.datastructures import Headers

from sync_server.accounts.sign_in import known_browsers
from sync_server.accounts.sign_in.signing_in import SignedIn, SignInSettings
from sync_server.plumbing.parts import parts

COOKIE = "gatehouse_session"


def set_cookie(response: Response, signed_in: SignedIn) -> None:
    """Set the session cookie, and remember the browser."""
    response.set_cookie(
        COOKIE,
        signed_in.token,
        max_age=parts().config.session_hours * 3600,
        secure=parts().config.secure_cookies,
        httponly=True,
        samesite="Lax",
    )
    known_browsers.remember(response, signed_in.login)


def sign_in_settings() -> SignInSettings:
    """How this server lets somebody in."""
    return SignInSettings(parts().config.session_hours, parts().sealer, known_browsers.recognise)


def session_response(signed_in: SignedIn) -> tuple[dict[str, Any], int, Headers]:
    """The response of the API to signing in."""
    response = Response()
    set_cookie(response, signed_in)
    body = {"csrf_token": signed_in.csrf, "organisation_id": signed_in.organisation_id or None}
    return body, 200, Headers([("Set-Cookie", cookie) for cookie in response.headers.getlist("Set-Cookie")])


def forget_cookie(response: Response) -> None:
    """Delete the session cookie."""
    response.delete_cookie(COOKIE, httponly=True, samesite="Lax", secure=parts().config.secure_cookies)
