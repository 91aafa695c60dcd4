"""/api/o/{slug}/account: customers sign in at a shop, and manage their login."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from werkzeug.datastructures import Headers

from sync_server.accounts.queries import Organisation
from sync_server.accounts.schemas import PasskeyOptions
from sync_server.accounts.sign_in import known_browsers
from sync_server.accounts.sign_in.passkey_ceremonies import Site
from sync_server.customers import account_schemas as schemas
from sync_server.customers import browsers, profile, queries, rules, service
from sync_server.customers.browsers import for_customer, require_customer
from sync_server.customers.logins import links, passkeys, passwords, sessions
from sync_server.customers.logins.links import Asked
from sync_server.customers.logins.sessions import Opened
from sync_server.customers.models import CustomerRow
from sync_server.plumbing.api.edits import check_unchanged, tagged
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Principal
from sync_server.plumbing.web import context

bp = APIBlueprint("account", __name__, url_prefix="/api/o/<slug>/account", tag="Customers")


@bp.after_request
def no_store(response: Response) -> Response:
    """What is said here is about one person: nothing may be cached."""
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.post("/link")
@bp.input(schemas.AskForLink)
@bp.output(schemas.Told, status_code=202)
@bp.doc(summary="Ask for a link to sign in")
def ask_for_link(slug: str, json_data: schemas.AskForLink) -> schemas.Told:
    """Mail a link to this address. The response is the same for every address."""
    asked = Asked(json_data.email, json_data.locale or "")
    return schemas.Told(message=links.ask(parts(), _shop(slug), asked, context()))


@bp.post("/session/link")
@bp.input(schemas.SignInByLink)
@bp.output(schemas.AccountView)
@bp.doc(summary="Sign in by a link", responses={200: "Signed in"})
def sign_in_by_link(slug: str, json_data: schemas.SignInByLink) -> tuple[dict[str, Any], int, Headers]:
    """Sign in with the code of a link. A first sign-in makes the login; the guest session's orders become its own."""
    shop, guest_id = _shop_and_guest(slug)
    with parts().database.writing() as session:
        customer = links.use(session, shop.id, json_data.code, context())
        opened = sessions.open_session(session, customer, guest_id, context(), by_link=True)
        return _signed_in(slug, customer, opened)


@bp.post("/session/password")
@bp.input(schemas.SignInByPassword)
@bp.output(schemas.AccountView)
@bp.doc(summary="Sign in by password", responses={200: "Signed in"})
def sign_in_by_password(slug: str, json_data: schemas.SignInByPassword) -> tuple[dict[str, Any], int, Headers]:
    """Sign in with address and password, where the customer has chosen one."""
    (shop, guest_id), given = _shop_and_guest(slug), (json_data.email, json_data.password)
    known = known_browsers.recognise
    opened = passwords.sign_in(parts().database, shop.id, given, guest_id, known=known, context=context())
    with parts().database.reading() as session:
        return _signed_in(slug, queries.customer(session, shop.id, opened.customer_id), opened)


@bp.post("/session/passkey/options")
@bp.output(PasskeyOptions)
@bp.doc(summary="Begin to sign in with a passkey", responses={200: "For navigator.credentials.get()"})
def passkey_options(slug: str) -> dict[str, Any]:
    """What `navigator.credentials.get()` needs, as `publicKey`: the same for everybody."""
    return {"publicKey": passkeys.sign_in_options(_shop(slug).id, _site(), context())}


@bp.post("/session/passkey")
@bp.input(schemas.SignInByPasskey)
@bp.output(schemas.AccountView)
@bp.doc(summary="Sign in with a passkey", responses={200: "Signed in"})
def sign_in_by_passkey(slug: str, json_data: schemas.SignInByPasskey) -> tuple[dict[str, Any], int, Headers]:
    """Sign in with the answer of `navigator.credentials.get()`."""
    shop, guest_id = _shop_and_guest(slug)
    with parts().database.writing() as session:
        given = json_data.credential, guest_id
        opened = passkeys.sign_in(session, shop.id, *given, site=_site(), context=context())
        return _signed_in(slug, queries.customer(session, shop.id, opened.customer_id), opened)


@bp.delete("/session")
@bp.doc(summary="Sign out", responses={204: "Signed out"})
def sign_out(slug: str) -> tuple[str, int, Headers]:
    """Sign out. The guest session ends too, so that the next person at this browser starts with nothing."""
    by = require_customer(slug)
    with parts().database.writing() as session:
        guest_id = sessions.end(session, by, by.session_id, context())
        if guest_id is not None:
            service.end_session(session, by.organisation_id, guest_id, context())
    response = Response()
    browsers.forget(response, rules.customer_cookie_name(slug), rules.cookie_name(slug))
    return "", 204, _cookies(response)


@bp.get("")
@for_customer
@bp.output(schemas.AccountView)
def show(by: Principal) -> schemas.AccountView:
    """The customer who is signed in."""
    with parts().database.reading() as session:
        return tagged(_view(queries.customer(session, by.organisation_id, by.id), by.csrf))


@bp.patch("")
@for_customer
@bp.input(schemas.ChangeAccount)
@bp.output(schemas.AccountView)
def change(by: Principal, json_data: schemas.ChangeAccount) -> schemas.AccountView:
    """Change name and language."""
    with parts().database.writing() as session:
        row = queries.customer(session, by.organisation_id, by.id, lock=True)
        check_unchanged(lambda: _view(row, by.csrf))
        profile.change(session, row, json_data.changes(), context())
        return tagged(_view(row, by.csrf))


@bp.post("/password")
@for_customer
@bp.input(schemas.ChoosePassword)
@bp.doc(summary="Choose a password", responses={204: "Chosen"})
def choose_password(by: Principal, json_data: schemas.ChoosePassword) -> tuple[str, int]:
    """Choose a password, or none; signs out everywhere else."""
    passwords.prove(parts().database, by, json_data.current_password, context())
    with parts().database.writing() as session:
        passwords.choose(session, by, json_data.password, context())
    return "", 204


@bp.get("/passkeys")
@for_customer
@bp.output(schemas.CustomerPasskeys)
def list_passkeys(by: Principal) -> schemas.CustomerPasskeys:
    """The caller's passkeys."""
    with parts().database.reading() as session:
        found = passkeys.passkeys(session, by.organisation_id, by.id)
    return schemas.CustomerPasskeys(items=[schemas.CustomerPasskey.of(row) for row in found])


@bp.post("/passkeys/options")
@for_customer
@bp.input(schemas.CurrentPassword)
@bp.output(PasskeyOptions)
@bp.doc(summary="Begin with a passkey", responses={200: "For navigator.credentials.create()"})
def new_passkey_options(by: Principal, json_data: schemas.CurrentPassword) -> dict[str, Any]:
    """What `navigator.credentials.create()` needs, as `publicKey`; answer within five minutes."""
    passwords.prove(parts().database, by, json_data.current_password, context())
    with parts().database.reading() as session:
        return {"publicKey": passkeys.registration_options(session, by, "Gatehouse", _site(), context())}


@bp.post("/passkeys")
@for_customer
@bp.input(schemas.NewCustomerPasskey)
@bp.output(schemas.CustomerPasskey, status_code=201)
@bp.doc(summary="Register a passkey")
def register_passkey(by: Principal, json_data: schemas.NewCustomerPasskey) -> schemas.CustomerPasskey:
    """Store a passkey."""
    given = json_data.name, json_data.credential
    with parts().database.writing() as session:
        return schemas.CustomerPasskey.of(passkeys.register(session, by, *given, site=_site(), context=context()))


@bp.delete("/passkeys/<passkey_id>")
@for_customer
@bp.doc(summary="Delete a passkey", responses={204: "Deleted"})
def remove_passkey(by: Principal, passkey_id: str) -> tuple[str, int]:
    """Delete one of the caller's passkeys."""
    with parts().database.writing() as session:
        passkeys.remove(session, by, passkey_id, context())
    return "", 204


@bp.get("/sessions")
@for_customer
@bp.output(schemas.CustomerSessions)
def list_sessions(by: Principal) -> schemas.CustomerSessions:
    """The browsers in which the caller is signed in."""
    with parts().database.reading() as session:
        rows = sessions.sessions(session, by.organisation_id, by.id, parts().clock())
    return schemas.CustomerSessions(
        items=[schemas.CustomerSession.of(row, current=row.id == by.session_id) for row in rows]
    )


@bp.delete("/sessions/<session_id>")
@for_customer
@bp.doc(summary="Sign out a browser", responses={204: "Signed out"})
def end_session(by: Principal, session_id: str) -> tuple[str, int]:
    """End one session of the caller."""
    with parts().database.writing() as session:
        sessions.end(session, by, session_id, context())
    return "", 204


def _site() -> Site:
    return Site(parts().config.base_url.rstrip("/"), parts().sealer)


def _shop(slug: str) -> Organisation:
    with parts().database.reading() as session:
        return browsers.shop(session, slug)


def _shop_and_guest(slug: str) -> tuple[Organisation, str | None]:
    with parts().database.reading() as session:
        shop = browsers.shop(session, slug)
        guest = browsers.guest(session, slug, shop.id)
    return shop, guest.guest_id if guest is not None else None


def _signed_in(slug: str, customer: CustomerRow, opened: Opened) -> tuple[dict[str, Any], int, Headers]:
    response = Response()
    browsers.remember(response, slug, customer.organisation_id, opened)
    csrf = sessions.csrf_of(parts().sealer, opened.token)
    return _view(customer, csrf).model_dump(mode="json"), 200, _cookies(response)


def _cookies(response: Response) -> Headers:
    return Headers([("Set-Cookie", cookie) for cookie in response.headers.getlist("Set-Cookie")])


def _view(row: CustomerRow, csrf: str) -> schemas.AccountView:
    member = row.membership_id or None
    return schemas.AccountView.of(
        row, email=row.email or "", has_password=bool(row.password_hash), membership_id=member, csrf_token=csrf
    )
