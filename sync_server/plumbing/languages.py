"""The language of a request: asked for in the URL, remembered in a cookie, or preferred by the browser."""

from __future__ import annotations

from typing import Final

from flask import Response, request

from sync_server.plumbing.language.texts import LANGUAGES, language_of
from sync_server.plumbing.parts import parts

PARAMETER: Final = "lang"
COOKIE: Final = "gatehouse_language"
_A_YEAR_S: Final = 365 * 86_400


def asked_for() -> str:
    """The language that the URL or the form asks for, or nothing."""
    wanted = request.args.get(PARAMETER, "") or request.form.get(PARAMETER, "")
    return wanted if wanted in LANGUAGES else ""


def of_request(default: str = "", *, with_cookie: bool = True) -> str:
    """The language of this request; without the cookie for pages that shared caches may keep."""
    remembered = request.cookies.get(COOKIE, "") if with_cookie else ""
    return language_of(asked_for(), remembered, *request.accept_languages.values(), default)


def remember(response: Response) -> None:
    """Remember the language that was asked for, on pages that are nobody else's."""
    if wanted := asked_for():
        secure = parts().config.secure_cookies
        response.set_cookie(COOKIE, wanted, max_age=_A_YEAR_S, secure=secure, httponly=True, samesite="Lax")
