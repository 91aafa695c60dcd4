"""Signing in and out, and choosing the organisation to act for."""

from __future__ import annotations

from flask import redirect, request, url_for
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import GatehouseError, NotSignedIn
from shared.ids import as_id
from sync_server.accounts import queries as accounts
from sync_server.accounts.sign_in import signing_in
from sync_server.accounts.sign_in.cookies import forget_cookie, set_cookie, sign_in_settings
from sync_server.admin.page import bp, maybe_staff, render_page, require_same_site
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import context, current_principal, retry_headers


@bp.get("/login")
def login() -> str | WerkzeugResponse:
    """The sign-in form; signed-in users go straight to the start page."""
    return redirect(url_for("admin.home")) if maybe_staff() else render_page("settings/login.html", after=_next_page())


@bp.post("/login")
def sign_in() -> WerkzeugResponse | tuple[str, int, dict[str, str]]:
    """Sign in, and return to the page that was asked for."""
    require_same_site()
    email, password = request.form.get("email", "")[:254], request.form.get("password", "")[:500]
    try:
        given = email, password, request.form.get("code", "")[:40]
        signed_in = signing_in.sign_in(parts().database, *given, settings=sign_in_settings(), context=context())
    except GatehouseError as error:
        asks_for_code = error.error_code in {"second_factor_required", "bad_second_factor"}
        shown = render_page(
            "settings/login.html", after=_next_page(), email=email, error=error.message, asks_for_code=asks_for_code
        )
        return shown, error.status, retry_headers(error)
    response = redirect(_next_page() or _first_page(signed_in.user_id))
    set_cookie(response, signed_in)  # type: ignore[arg-type]  # redirect() returns Flask's own response class
    return response


def _first_page(user_id: str) -> str:
    """Whoever belongs to several organisations says for which one this browser works before anything is shown."""
    with parts().database.reading() as session:
        several = len(accounts.organisations_of(session, user_id)) > 1
    return url_for("admin.organisations" if several else "admin.home")


@bp.post("/logout")
def sign_out() -> WerkzeugResponse:
    """Sign this browser out."""
    with parts().database.writing() as session:
        signing_in.sign_out(session, current_principal(), context())
    response = redirect(url_for("admin.login"))
    forget_cookie(response)  # type: ignore[arg-type]  # redirect() returns Flask's own response class
    return response


@bp.get("/organisation")
def organisations() -> str | WerkzeugResponse:
    """The organisations that the user may act for; on the way in only where there are several."""
    principal = maybe_staff()
    if principal is None:
        raise NotSignedIn
    if "entering" in request.args and not principal.platform_role:
        first = _first_page(principal.id)
        if first != request.path:
            return redirect(first)
    with parts().database.reading() as session:
        own = accounts.organisations_of(session, principal.id)
        rows = list(accounts.organisations(session)) if principal.platform_role else [row for row, _ in own]
    roles = {row.id: role for row, role in own}
    return render_page("settings/organisation.html", organisations=rows, roles=roles)


@bp.post("/organisation")
def switch_organisation() -> WerkzeugResponse:
    """Act for another organisation from now on."""
    organisation_id = as_id(request.form.get("organisation_id", ""))
    with parts().database.writing() as session:
        signing_in.choose_organisation(session, current_principal(), organisation_id, context())
    return redirect(url_for("admin.home"))


def _next_page() -> str:
    """The page to go to after signing in: only paths under /admin/, never another site."""
    path = request.values.get("after", "")
    return path if path.startswith("/admin/") and "\\" not in path else ""
