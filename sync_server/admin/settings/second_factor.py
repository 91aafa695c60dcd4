"""The second factor of one's own login: an authenticator app by its QR code, and recovery codes to print."""

from __future__ import annotations

from flask import redirect, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import GatehouseError
from sync_server.accounts import queries as accounts
from sync_server.accounts.sign_in import own_login, second_factors
from sync_server.admin.page import bp
from sync_server.admin.settings.account import form_status
from sync_server.admin.settings.frame import own_page, render_settings
from sync_server.devices.codes import qr_svg
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import context, current_principal, retry_headers

Answer = str | WerkzeugResponse | tuple[str, int, dict[str, str]]


@bp.get("/account/second-factor")
@own_page
def second_factor() -> Answer:
    """Asks for the password before anything is shown: the browser may have been left to somebody else."""
    with parts().database.reading() as session:
        if second_factors.is_on(session, current_principal().id):
            return redirect(url_for("admin.account"))
    return render_settings("second_factor.html", "account", problem="")


@bp.post("/account/second-factor")
@own_page
def begin_second_factor() -> Answer:
    """Offer a secret to an authenticator app."""
    by = current_principal()
    try:
        own_login.require_password(parts().database, by, request.form.get("password", "")[:500], context())
        with parts().database.writing() as session:
            offer = second_factors.begin(session, accounts.user(session, by.id), parts().sealer, context())
    except GatehouseError as error:
        shown = render_settings("second_factor.html", "account", problem=error.message)
        return shown, form_status(error), retry_headers(error)
    return _app_page(offer)


def _app_page(offer: second_factors.NewApp, problem: str = "") -> str:
    grouped = " ".join(offer.secret[at : at + 4] for at in range(0, len(offer.secret), 4))
    picture = Markup(qr_svg(offer.uri, mode=None))  # noqa: S704 - drawn here, of no markup of others
    return render_settings("second_factor_app.html", "account", picture=picture, secret=grouped, problem=problem)


@bp.post("/account/second-factor/confirm")
@own_page
def confirm_second_factor() -> Answer:
    """Turn it on by a first code, and show the recovery codes, this once."""
    by = current_principal()
    code = request.form.get("code", "").strip()[:40]
    try:
        with parts().database.writing() as session:
            codes = second_factors.confirm(session, by.id, code, parts().sealer, context())
            own_login.end_other_sessions(session, by, context())
    except GatehouseError as error:
        with parts().database.reading() as session:
            offer = second_factors.offered(session, accounts.user(session, by.id), parts().sealer)
        return _app_page(offer, error.message), error.status, {}
    with parts().database.reading() as session:
        login = accounts.user(session, by.id).email
    return render_settings("recovery_codes.html", "account", codes=codes, login=login)


@bp.get("/account/second-factor/off")
@own_page
def ask_to_turn_off() -> str:
    """What it means to do without."""
    return render_settings("second_factor_off.html", "account", problem="")


@bp.post("/account/second-factor/off")
@own_page
def turn_second_factor_off() -> Answer:
    """Ask for the password alone from now on."""
    by = current_principal()
    try:
        own_login.require_password(parts().database, by, request.form.get("password", "")[:500], context())
    except GatehouseError as error:
        shown = render_settings("second_factor_off.html", "account", problem=error.message)
        return shown, form_status(error), retry_headers(error)
    with parts().database.writing() as session:
        second_factors.turn_off(session, by.id, context())
    return redirect(url_for("admin.account", done="factor_off"))
