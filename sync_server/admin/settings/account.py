"""One's own login: the password, the browsers that are signed in, and what else proves who one is."""

from __future__ import annotations

from flask import redirect, request, url_for
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import Forbidden, GatehouseError
from sync_server.accounts import queries as accounts
from sync_server.accounts.sign_in import own_login, passkeys, second_factors
from sync_server.accounts.sign_in.cookies import set_cookie
from sync_server.admin.page import bp
from sync_server.admin.settings.browsers import browser_name
from sync_server.admin.settings.frame import Page, own_page, render_settings
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import context, current_principal, retry_headers


@bp.get("/account")
@own_page
def account() -> str:
    """The own login, with everything that opens it."""
    return _account_page()


def _account_page(problem: str = "") -> str:
    by = current_principal()
    with parts().database.reading() as session:
        shown = {
            "login": accounts.user(session, by.id),
            "roles": accounts.organisations_of(session, by.id),
            "with_app": second_factors.is_on(session, by.id),
            "codes_left": second_factors.recovery_codes_left(session, by.id),
            "keys": passkeys.passkeys(session, by.id),
            "browsers": own_login.sessions(session, by, parts().clock()),
        }
    return render_settings("account.html", "account", problem=problem, browser_name=browser_name, **shown)


@bp.post("/account/password")
@own_page
def change_password() -> WerkzeugResponse | tuple[str, int, dict[str, str]]:
    """Choose another password: signs out everywhere else."""
    given = request.form.get("current", "")[:500], request.form.get("password", "")[:500]
    try:
        hours = parts().config.session_hours
        signed_in = own_login.change_password(
            parts().database, current_principal(), *given, hours=hours, context=context()
        )
    except GatehouseError as error:
        return _account_page(error.message), form_status(error), retry_headers(error)
    response = redirect(url_for("admin.account", done="password"))
    set_cookie(response, signed_in)  # type: ignore[arg-type]  # redirect() returns Flask's own response class
    return response


def form_status(error: GatehouseError) -> int:
    """The status of a form that is shown again: a wrong password is a mistake in it, and no lack of a right."""
    return 400 if error.status == Forbidden.status else error.status


@bp.post("/account/browsers/end-others")
@own_page
def end_other_browsers() -> WerkzeugResponse:
    """Sign out everywhere else."""
    with parts().database.writing() as session:
        own_login.end_other_sessions(session, current_principal(), context())
    return redirect(url_for("admin.account", done="others_ended"))


@bp.post("/account/browsers/<session_id>/end")
@own_page
def end_browser(session_id: str) -> WerkzeugResponse:
    """Sign one browser out."""
    with parts().database.writing() as session:
        own_login.end_session(session, current_principal(), session_id, context())
    return redirect(url_for("admin.account", done="browser_ended"))


@bp.get("/account/passkeys/<passkey_id>/remove")
@own_page
def ask_to_remove_passkey(passkey_id: str) -> Page:
    """What it means to remove a passkey."""
    with parts().database.reading() as session:
        found = passkeys.passkeys(session, current_principal().id)
    one = next((each for each in found if each.id == passkey_id), None)
    if one is None:
        return redirect(url_for("admin.account"))
    return render_settings("passkey_remove.html", "account", one=one, left=len(found) - 1)


@bp.post("/account/passkeys/<passkey_id>/remove")
@own_page
def remove_passkey(passkey_id: str) -> WerkzeugResponse:
    """Remove a passkey from the login."""
    with parts().database.writing() as session:
        passkeys.remove(session, current_principal().id, passkey_id, context())
    return redirect(url_for("admin.account", done="passkey_removed"))
