"""Shared by all admin pages: the blueprint, permissions, rendering and security headers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from apiflask import APIBlueprint
from flask import Response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import Forbidden, GatehouseError, NotFound
from sync_server.accounts import queries as accounts
from sync_server.admin import display
from sync_server.appearance import accents
from sync_server.plumbing.language.texts import DEFAULT, Translator, translator
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action, Principal
from sync_server.plumbing.web import (
    current_actor,
    current_principal,
    error_response,
    mark_action,
    maybe_principal,
    request_id,
    require,
)
from sync_server.ticket_files.design import accent_of, design_of
from sync_server.venues import queries as venues
from sync_server.waiting.handing_over import listener_url

TEXTS: Final = Path(__file__).with_name("texts")
_GUESTS: Final = frozenset({"guest", "order"})
P = ParamSpec("P")
T = TypeVar("T")

bp = APIBlueprint("admin", __name__, url_prefix="/admin", template_folder="templates", enable_openapi=False)

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'{streams}; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


def page(action: Action = Action.READ) -> Callable[[Callable[P, T]], Callable[P, T | WerkzeugResponse]]:
    """Restrict a view to users who may do this; visitors who are not signed in go to the sign-in page."""

    def guard(view: Callable[P, T]) -> Callable[P, T | WerkzeugResponse]:
        @wraps(view)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> T | WerkzeugResponse:
            principal = maybe_staff()
            if principal is None:
                return redirect(url_for("admin.login", after=request.path if request.method == "GET" else None))
            if not principal.organisation_id:
                return redirect(url_for("admin.organisations"))
            require(action)
            return view(*args, **kwargs)

        return mark_action(guarded, action)

    return guard


def maybe_staff() -> Principal | None:
    """Who asks, unless it is a guest of a shop: at the desk they are nobody, and may sign in."""
    principal = maybe_principal()
    return None if principal is None or principal.kind in _GUESTS else principal


def words() -> Translator:
    """The texts of the desk."""
    return translator(TEXTS, DEFAULT)


def render_page(template: str, /, **context: object) -> str:
    """Render a page with the variables that the base template needs."""
    who = maybe_staff()
    name, colour = "", accents.DEFAULT
    if who is not None and who.organisation_id:
        with parts().database.reading() as session:
            name = accounts.organisation(session, who.organisation_id).name
            colour = accent_of(design_of(session, who.organisation_id))
    framed = {"who": who, "organisation_name": name, "colour": colour, "accent": accents.accent_path(colour)}
    outside = current_actor().platform_role if who is not None else ""
    return _rendered(template, framed | {"outside": outside} | context)


def _rendered(template: str, shown: dict[str, object]) -> str:
    every = {"now": parts().clock(), "display": display, "may": may, "t": words(), "home_zone": home_zone}
    return render_template(f"admin/{template}", **every, **shown)


def home_zone() -> str:
    """By whose clocks times are shown that belong to no event: those of most of the organisation's venues."""
    with parts().database.reading() as session:
        return venues.usual_timezone(session, current_organisation())


def may(action: str) -> bool:
    """Whether the current user may do this."""
    principal = maybe_staff()
    return principal is not None and parts().may(principal, Action(action))


def require_same_site() -> None:
    """Forbidden if another site sent the sign-in form, which has no CSRF token."""
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
        raise Forbidden("This form came from another site.", code="bad_csrf")


def current_organisation() -> str:
    """The organisation that the user acts for."""
    return current_principal().organisation_id


@bp.after_request
def _set_security_headers(response: Response) -> Response:
    # Without a proxy streams are at another port, to which the server redirects.
    streams = listener_url()
    response.headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY.format(streams=streams and f" {streams}")
    response.headers["X-Frame-Options"] = "DENY"
    response.headers["Cache-Control"] = "no-store"
    return response


_TITLES: Final = {
    400: "error.invalid",
    403: "error.forbidden",
    404: "error.not_found",
    405: "error.not_found",
    409: "error.conflict",
    410: "error.over",
    413: "error.too_large",
    429: "error.too_many",
}
_SERVER_AWAY: Final = 500
"""From this status on the page asks the database nothing: it may be what is away."""


@bp.get("/<path:unknown>")
@page()
def no_such_page(unknown: str) -> str:
    """Every address under /admin that is no page: said in a page, not in JSON."""
    raise NotFound("There is no such page.", code="page_not_found", path=unknown)


def error_page(error: GatehouseError, status: int) -> Response:
    """What happened, and what to do: the same for whatever a page of the desk runs into."""
    away = status >= _SERVER_AWAY
    title = words()("error.away" if away else _TITLES.get(status, "error.failed"))
    shown = {
        "error": error,
        "http_status": status,
        "title": title,
        "request_id": request_id(),
        "action": _action(error),
    }
    if away:
        accent = accents.accent_path(accents.DEFAULT)
        body = _rendered("error.html", {"who": None, "accent": accent, "organisation_name": "", **shown})
    else:
        body = render_page("error.html", helpers=_helpers(status), **shown)
    return _set_security_headers(Response(body, status, content_type="text/html; charset=utf-8"))


@bp.errorhandler(GatehouseError)
def _show_error(error: GatehouseError) -> Response:
    return error_response(error)


def _action(error: GatehouseError) -> str:
    """What was not allowed, in words."""
    key = f"scope.{error.details.get('action', '')}"
    return words()(key) if key in words() else ""


def _helpers(status: int) -> str:
    """Who may do what this person may not: the owners and admins, by name."""
    who = maybe_staff()
    if status != Forbidden.status or who is None or not who.organisation_id:
        return ""
    with parts().database.reading() as session:
        people = accounts.members(session, who.organisation_id)
    return ", ".join(one.name or one.email for one in people if one.active and one.role in {"owner", "admin"})
