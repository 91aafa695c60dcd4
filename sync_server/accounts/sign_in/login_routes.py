"""/api/password, /api/sessions and /api/second-factor: what the owner of a login does with it."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from werkzeug.datastructures import Headers

from sync_server.accounts import schemas
from sync_server.accounts.models import UserRow
from sync_server.accounts.sign_in import mails, own_login, password_links, second_factors
from sync_server.accounts.sign_in.cookies import session_response
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import context, current_principal, signed_in

bp = APIBlueprint("logins", __name__, url_prefix="/api", tag="Own login")


@bp.post("/password")
@signed_in
@bp.input(schemas.ChangePassword)
@bp.output(schemas.SignedInView)
@bp.doc(summary="Change the own password", responses={200: "Changed, and signed in anew"})
def change_password(json_data: schemas.ChangePassword) -> tuple[dict[str, Any], int, Headers]:
    """Choose another password: signs out everywhere, and in again here, with a new cookie and CSRF token."""
    given = json_data.current_password, json_data.new_password
    hours = parts().config.session_hours
    return session_response(
        own_login.change_password(parts().database, current_principal(), *given, hours=hours, context=context())
    )


@bp.post("/password/link")
@bp.input(schemas.AskForPasswordLink)
@bp.output(schemas.Said, status_code=202)
@bp.doc(summary="Ask for a link to choose a new password")
def ask_for_link(json_data: schemas.AskForPasswordLink) -> schemas.Said:
    """Mail a link to this address, if it has a login; the response does not tell."""
    return schemas.Said(message=mails.ask_for_password_link(parts(), json_data.email, context()))


@bp.post("/password/by-link")
@bp.input(schemas.PasswordByLink)
@bp.doc(summary="Choose a password by a link", responses={204: "Chosen"})
def choose_by_link(json_data: schemas.PasswordByLink) -> tuple[str, int]:
    """Choose a password with the code of a link: signs out everywhere."""
    with parts().database.writing() as session:
        password_links.use(session, json_data.code, json_data.password, context())
    return "", 204


@bp.get("/sessions")
@signed_in
@bp.output(schemas.SessionsView)
def sessions() -> schemas.SessionsView:
    """The browsers in which the caller is signed in."""
    by = current_principal()
    with parts().database.reading() as session:
        rows = own_login.sessions(session, by, parts().clock())
    items = [schemas.SessionItem.of(row, current=row.id == by.session_id) for row in rows]
    return schemas.SessionsView(items=items)


@bp.delete("/sessions")
@signed_in
@bp.doc(summary="Sign out everywhere else", responses={204: "Signed out"})
def end_other_sessions() -> tuple[str, int]:
    """End all sessions of the caller but this one."""
    with parts().database.writing() as session:
        own_login.end_other_sessions(session, current_principal(), context())
    return "", 204


@bp.delete("/sessions/<session_id>")
@signed_in
@bp.doc(summary="Sign out a browser", responses={204: "Signed out"})
def end_session(session_id: str) -> tuple[str, int]:
    """End one session of the caller."""
    with parts().database.writing() as session:
        own_login.end_session(session, current_principal(), session_id, context())
    return "", 204


@bp.get("/second-factor")
@signed_in
@bp.output(schemas.SecondFactorView)
def second_factor() -> schemas.SecondFactorView:
    """Whether the caller's login asks for a second factor."""
    user_id = own_login.require_user(current_principal()).id
    with parts().database.reading() as session:
        left = second_factors.recovery_codes_left(session, user_id)
        return schemas.SecondFactorView(on=second_factors.is_on(session, user_id), recovery_codes_left=left)


@bp.post("/second-factor")
@signed_in
@bp.input(schemas.OwnPassword)
@bp.output(schemas.NewAppView, status_code=201)
@bp.doc(summary="Begin with an authenticator app")
def begin_second_factor(json_data: schemas.OwnPassword) -> schemas.NewAppView:
    """A secret for an authenticator app; confirm it with a first code."""
    by = current_principal()
    own_login.require_password(parts().database, by, json_data.password, context())
    with parts().database.writing() as session:
        user = session.get_one(UserRow, by.id)
        return schemas.NewAppView.of(second_factors.begin(session, user, parts().sealer, context()))


@bp.post("/second-factor/confirm")
@signed_in
@bp.input(schemas.AppCode)
@bp.output(schemas.RecoveryCodes)
@bp.doc(summary="Turn the second factor on")
def confirm_second_factor(json_data: schemas.AppCode) -> schemas.RecoveryCodes:
    """Turn the second factor on, and sign out everywhere else. The recovery codes are only in this response."""
    by = own_login.require_user(current_principal())
    with parts().database.writing() as session:
        codes = second_factors.confirm(session, by.id, json_data.code, parts().sealer, context())
        own_login.end_other_sessions(session, by, context())
    return schemas.RecoveryCodes(recovery_codes=codes)


@bp.post("/second-factor/off")
@signed_in
@bp.input(schemas.OwnPassword)
@bp.doc(summary="Turn the second factor off", responses={204: "Off"})
def turn_second_factor_off(json_data: schemas.OwnPassword) -> tuple[str, int]:
    """Ask for the password alone from now on."""
    by = current_principal()
    own_login.require_password(parts().database, by, json_data.password, context())
    with parts().database.writing() as session:
        second_factors.turn_off(session, by.id, context())
    return "", 204
