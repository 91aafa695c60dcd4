"""/api/o/{slug}/session: guest sessions of an organisation's shop; and authentication of guests."""

from __future__ import annotations

import hmac
from collections.abc import Sequence

from apiflask import APIBlueprint
from flask import Request, Response, g, request

from shared.errors import Forbidden, NotFound, NotSignedIn
from sync_server.accounts.queries import Organisation
from sync_server.accounts.sign_in.cookies import COOKIE as STAFF_COOKIE
from sync_server.customers import browsers, cookies, rules, schemas, service
from sync_server.customers.cookies import GuestSession
from sync_server.customers.logins import sessions
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Principal
from sync_server.plumbing.web import SAFE_METHODS, context, current_g, current_request, maybe_principal, sent_header

bp = APIBlueprint("customers", __name__, url_prefix="/api/o/<slug>/session", tag="Guests")

MAX_COOKIES = 20
GUEST_BLUEPRINTS = frozenset({"waiting_list", "holds", "queue", "checkout"})
"""Blueprints that reject unsafe requests with a guest cookie but no CSRF token. Other routes ignore the cookie."""


def identify() -> None:
    """Authenticate a guest. A guest's CSRF token takes precedence over a staff session in the same browser."""
    http_request = current_request()
    if sent_header("Authorization") is not None:
        return
    guests, customers = _guests(http_request), browsers.tokens(http_request)
    if not guests and not customers:
        return
    token = sent_header("X-CSRF-Token") or (request.form.get("csrf_token", "") if _posts_form() else "")
    if customers and _is_customer(customers, token):
        return
    if not guests:
        return
    matching = next((guest for guest in guests if hmac.compare_digest(guest.csrf.encode(), token.encode())), None)
    if matching is None and STAFF_COOKIE not in http_request.cookies:
        matching = _guest_without_token(guests)
    if matching is not None:
        who = Principal("guest", matching.guest_id, matching.organisation_id, csrf=matching.csrf)
        current_g().principal = who


def _is_customer(customers: Sequence[browsers.Token], csrf: str) -> bool:
    """Whether this is the CSRF token of a customer's session, who then is the principal."""
    sealer = parts().sealer
    mine = next((each for each in customers if csrf and sessions.is_csrf_of(sealer, each.secret, csrf)), None)
    found = None if mine is None else browsers.authenticate(mine)
    if found is not None:
        g.principal = found
    return found is not None


def _guests(http_request: Request) -> list[GuestSession]:
    texts = [text for name, text in http_request.cookies.items() if name.startswith(rules.COOKIE_PREFIX)]
    if not texts:
        return []
    now, sealer = parts().clock(), parts().sealer
    found = (cookies.decode(text, sealer, now) for text in texts[:MAX_COOKIES])
    return [guest for guest in found if guest is not None]


def _posts_form() -> bool:
    return request.mimetype in {"application/x-www-form-urlencoded", "multipart/form-data"}


def _guest_without_token(guests: list[GuestSession]) -> GuestSession | None:
    if request.method in SAFE_METHODS:
        return guests[0] if len(guests) == 1 else None
    if request.blueprint in GUEST_BLUEPRINTS:
        raise Forbidden(
            "The X-CSRF-Token header is missing or does not belong to this session. Reload the page.", code="bad_csrf"
        )
    return None


@bp.post("")
@bp.output(schemas.GuestView, status_code=201)
@bp.doc(summary="Start a guest session", responses={200: "A session is already open", 201: "Session started"})
def start_session(slug: str) -> tuple[schemas.GuestView, int, dict[str, str]]:
    """Start a guest session with this organisation: sets a cookie and returns the CSRF token for unsafe requests."""
    with parts().database.reading() as session:
        shop = browsers.shop(session, slug)
        guest = browsers.guest(session, slug, shop.id)
    status = 200
    if guest is None:
        hours, allowed = parts().config.session_hours, parts().config.guests_per_address
        with parts().database.writing() as session:
            guest = service.create_guest(session, shop.id, context(), lasts_ms=hours * 3_600_000, allowed=allowed)
            customer = browsers.customer(slug)
            if customer is not None and customer.organisation_id == shop.id:
                sessions.bind_guest(session, shop.id, customer.session_id, guest.guest_id)
        status = 201
    return _view(guest, shop), status, {"Set-Cookie": _cookie(slug, guest)}


@bp.get("")
@bp.output(schemas.GuestView)
def who_am_i(slug: str) -> schemas.GuestView:
    """This browser's guest session with the organisation, and its CSRF token."""
    return _view(*_require_guest(slug))


@bp.delete("")
@bp.doc(summary="End the guest session", responses={204: "Session ended"})
def end_session(slug: str) -> tuple[str, int, dict[str, str]]:
    """End the guest session, and release the seats it holds."""
    guest, _ = _require_guest(slug)
    if not hmac.compare_digest(guest.csrf.encode(), request.headers.get("X-CSRF-Token", "").encode()):
        raise Forbidden("Send the session's X-CSRF-Token to end it.", code="bad_csrf")
    with parts().database.writing() as session:
        service.end_session(session, guest.organisation_id, guest.guest_id, context())
    response = Response()
    response.delete_cookie(rules.cookie_name(slug), httponly=True, samesite="Lax", secure=parts().config.secure_cookies)
    return "", 204, {"Set-Cookie": response.headers["Set-Cookie"]}


def _require_guest(slug: str) -> tuple[GuestSession, Organisation]:
    organisation_id = ""
    if rules.cookie_name(slug) in request.cookies:
        with parts().database.reading() as session:
            shop = browsers.shop(session, slug)
            guest, organisation_id = browsers.guest(session, slug, shop.id), shop.id
        if guest is not None:
            return guest, shop
    message = "This browser has no guest session yet. POST to this address to start one."
    # A guest who has left still sends a valid cookie: `identify` does not look it up in the database.
    principal = maybe_principal()
    if principal is not None and (principal.kind, principal.organisation_id) != ("guest", organisation_id):
        raise NotFound(message, code="no_session")
    raise NotSignedIn(message, code="no_session")


def _view(guest: GuestSession, shop: Organisation) -> schemas.GuestView:
    return schemas.GuestView.of(guest, kind="guest", csrf_token=guest.csrf, organisation=shop)


def _cookie(slug: str, guest: GuestSession) -> str:
    response = Response()
    browsers.remember_guest(response, slug, guest)
    return response.headers["Set-Cookie"]
