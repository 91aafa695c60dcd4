"""/api/passkeys, and signing in with one."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from werkzeug.datastructures import Headers

from sync_server.accounts import schemas
from sync_server.accounts.models import UserRow
from sync_server.accounts.sign_in import own_login, passkeys
from sync_server.accounts.sign_in.cookies import session_response, sign_in_settings
from sync_server.accounts.sign_in.passkeys import Site
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import context, current_principal, signed_in

bp = APIBlueprint("passkeys", __name__, url_prefix="/api", tag="Passkeys")


def _site() -> Site:
    return Site(parts().config.base_url.rstrip("/"), parts().sealer)


@bp.get("/passkeys")
@signed_in
@bp.output(schemas.PasskeysView)
def listing() -> schemas.PasskeysView:
    """The caller's passkeys."""
    by = own_login.require_user(current_principal())
    with parts().database.reading() as session:
        return schemas.PasskeysView.of_all(passkeys.passkeys(session, by.id))


@bp.post("/passkeys/options")
@signed_in
@bp.input(schemas.OwnPassword)
@bp.output(schemas.PasskeyOptions)
@bp.doc(summary="Begin with a passkey", responses={200: "For navigator.credentials.create()"})
def options(json_data: schemas.OwnPassword) -> dict[str, Any]:
    """What `navigator.credentials.create()` needs, as `publicKey`; answer within five minutes."""
    by = current_principal()
    own_login.require_password(parts().database, by, json_data.password, context())
    with parts().database.reading() as session:
        user = session.get_one(UserRow, by.id)
        return {"publicKey": passkeys.registration_options(session, user, _site(), context())}


@bp.post("/passkeys")
@signed_in
@bp.input(schemas.NewPasskey)
@bp.output(schemas.PasskeyView, status_code=201)
@bp.doc(summary="Register a passkey")
def register(json_data: schemas.NewPasskey) -> schemas.PasskeyView:
    """Store a passkey: the answer of `navigator.credentials.create()`, as its `toJSON()` gives it."""
    by = own_login.require_user(current_principal())
    given = json_data.name, json_data.credential
    with parts().database.writing() as session:
        row = passkeys.register(session, by.id, *given, site=_site(), context=context())
        return schemas.PasskeyView.of(row)


@bp.delete("/passkeys/<passkey_id>")
@signed_in
@bp.doc(summary="Delete a passkey", responses={204: "Deleted"})
def remove(passkey_id: str) -> tuple[str, int]:
    """Delete one of the caller's passkeys."""
    by = own_login.require_user(current_principal())
    with parts().database.writing() as session:
        passkeys.remove(session, by.id, passkey_id, context())
    return "", 204


@bp.post("/session/passkey/options")
@bp.output(schemas.PasskeyOptions)
@bp.doc(summary="Begin to sign in with a passkey", responses={200: "For navigator.credentials.get()"})
def sign_in_options() -> dict[str, Any]:
    """What `navigator.credentials.get()` needs, as `publicKey`: the same for everybody."""
    return {"publicKey": passkeys.sign_in_options(_site(), context())}


@bp.post("/session/passkey")
@bp.input(schemas.PasskeyAnswer)
@bp.output(schemas.SignedInView)
@bp.doc(summary="Sign in with a passkey", responses={200: "Signed in"})
def sign_in(json_data: schemas.PasskeyAnswer) -> tuple[dict[str, Any], int, Headers]:
    """Sign in with the answer of `navigator.credentials.get()`, without a password and a second factor."""
    settings = sign_in_settings()
    return session_response(
        passkeys.sign_in(parts().database, json_data.credential, site=_site(), settings=settings, context=context())
    )
