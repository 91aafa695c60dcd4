"""The pages behind one-time links: accepting an invitation, and choosing a password."""

from __future__ import annotations

from typing import Any

from flask import redirect, request, url_for
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import GatehouseError
from sync_server.accounts import invitations
from sync_server.accounts.sign_in import mails, password_links
from sync_server.accounts.sign_in.cookies import forget_cookie, set_cookie, sign_in_settings
from sync_server.admin import forms
from sync_server.admin.page import bp, maybe_staff, render_page, require_same_site
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import context

Page = str | tuple[str, int] | WerkzeugResponse


@bp.get("/invitation")
def invitation() -> Page:
    """Takes the code from the link: a script sends the part behind #, which is in no request."""
    return render_page("settings/one_time_code.html", title="Invitation", action=url_for("admin.open_invitation"))


@bp.post("/invitation")
def open_invitation() -> Page:
    """What the invitation offers, and the form to accept it."""
    require_same_site()
    return _invitation_page(_field("code"))


@bp.post("/invitation/accept")
def accept_invitation() -> Page:
    """Become a member, signed in from now on."""
    require_same_site()
    code = _field("code")
    name, password = _field("name"), request.form.get("password", "")[:500]
    given: dict[str, Any] = {"name": name, "password": password, "second_factor": _field("code_of_app")}
    here: dict[str, Any] = {"by": maybe_staff(), "settings": sign_in_settings(), "context": context()}
    try:
        signed_in = invitations.accept(parts().database, code, **given, **here)
    except GatehouseError as error:
        if error.error_code == "invitation_ended":
            raise
        asks_for_code = error.error_code in {"second_factor_required", "bad_second_factor"}
        return _invitation_page(code, error=error.message, name=name, asks_for_code=asks_for_code), error.status
    response = redirect(url_for("admin.home"))
    if signed_in is not None:
        set_cookie(response, signed_in)  # type: ignore[arg-type]  # redirect() returns Flask's own response class
    return response


def _invitation_page(code: str, **shown: Any) -> str:
    with parts().database.reading() as session:
        offered = invitations.preview(session, code, parts().clock())
        here = invitations.is_for(session, offered, maybe_staff())
    return render_page("settings/invitation.html", code=code, invitation=offered, signed_in=here, **shown)


@bp.get("/forgotten")
def forgotten() -> Page:
    """Asks for the address of a login whose password is forgotten."""
    return render_page("settings/forgotten.html")


@bp.post("/forgotten")
def ask_for_link() -> Page:
    """Mail a link to choose a new password."""
    require_same_site()
    try:
        said = mails.ask_for_password_link(parts(), request.form.get("email", "")[:254], context())
    except GatehouseError as error:
        return render_page("settings/forgotten.html", error=error.message), error.status
    return render_page("settings/forgotten.html", said=said)


@bp.get("/password")
def password() -> Page:
    """Takes the code from the link and asks for the new password."""
    return render_page("settings/password.html")


@bp.post("/password")
def choose_password() -> Page:
    """Store the new password; sign in with it next."""
    require_same_site()
    try:
        with parts().database.writing() as session:
            password_links.use(session, _field("code"), request.form.get("password", "")[:500], context())
    except GatehouseError as error:
        return render_page("settings/password.html", code=_field("code"), error=error.message), error.status
    response = redirect(url_for("admin.login", changed=1))
    forget_cookie(response)  # type: ignore[arg-type]  # redirect() returns Flask's own response class
    return response


def _field(name: str) -> str:
    return forms.text(name, 100)
