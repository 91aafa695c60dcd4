"""Who a browser is to a shop, by its cookies: a guest, and perhaps a customer who is signed in."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from flask import Request, Response, g, request
from msgspec import structs
from sqlalchemy.orm import Session

from shared.errors import Forbidden, NotFound, NotSignedIn
from shared.ids import as_id
from sync_server.accounts import queries as accounts
from sync_server.accounts.queries import Organisation
from sync_server.accounts.sign_in import known_browsers
from sync_server.customers import cookies, queries, rules
from sync_server.customers.cookies import GuestSession
from sync_server.customers.logins import sessions
from sync_server.customers.logins.sessions import Opened
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Principal
from sync_server.plumbing.web import SAFE_METHODS, maybe_principal

P = ParamSpec("P")
T = TypeVar("T")
MAX_COOKIES = 20


@dataclass(frozen=True, slots=True)
class Token:
    """The content of a customer's cookie: of which organisation's shop, and the secret of the session."""

    organisation_id: str
    secret: str


def shop(session: Session, slug: str) -> Organisation:
    """The organisation of a shop, or NotFound."""
    row = accounts.organisation_by_slug(session, slug)
    if row is None:
        raise NotFound("There is no organisation with this slug.", code="organisation_not_found")
    return row


def guest(session: Session, slug: str, organisation_id: str) -> GuestSession | None:
    """The guest of this shop's cookie, unless the session has ended: a copied cookie may outlive it."""
    text, now = request.cookies.get(rules.cookie_name(slug), ""), parts().clock()
    found = cookies.decode(text, parts().sealer, now) if text else None
    if found is None or found.organisation_id != organisation_id:
        return None
    return found if queries.is_active(session, organisation_id, found.guest_id, now) else None


def tokens(http_request: Request) -> Sequence[Token]:
    """The customers' cookies of a request."""
    found = [text for name, text in http_request.cookies.items() if name.startswith(rules.CUSTOMER_COOKIE_PREFIX)]
    return [_token(text) for text in found[:MAX_COOKIES]]


def _token(text: str) -> Token:
    organisation_id, _, secret = text.partition(".")
    return Token(as_id(organisation_id), secret)


def authenticate(token: Token) -> Principal | None:
    """The customer of a cookie, with the CSRF token of the session; None if it has ended."""
    here = parts()
    found = sessions.authenticate(here.database, token.organisation_id, token.secret, here.clock())
    return None if found is None else structs.replace(found, csrf=sessions.csrf_of(here.sealer, token.secret))


def customer(slug: str) -> Principal | None:
    """The customer who is signed in at this shop in this browser."""
    text = request.cookies.get(rules.customer_cookie_name(slug), "")
    return authenticate(_token(text)) if text else None


def for_customer(view: Callable[Concatenate[Principal, P], T]) -> Callable[..., T]:
    """Allow a view, which takes the customer first, only for whoever is signed in at the shop."""

    @wraps(view)
    def guarded(slug: str, *args: P.args, **kwargs: P.kwargs) -> T:
        return view(require_customer(slug), *args, **kwargs)

    guarded.__dict__["for_customers"] = True
    return guarded


def require_customer(slug: str) -> Principal:
    """The customer of this request, who becomes its principal.

    NotSignedIn for visitors and guests, NotFound for staff and for an unknown shop, Forbidden without the CSRF token.
    """
    found, other = customer(slug), maybe_principal()
    if found is None:
        if other is not None and other.kind not in {"guest", "customer"}:
            raise NotFound("Only customers of the shop have an account here.", code="not_signed_in")
        raise NotSignedIn("Sign in at this shop first.", code="not_signed_in")
    with parts().database.reading() as session:
        if shop(session, slug).id != found.organisation_id:
            raise NotSignedIn("Sign in at this shop first.", code="not_signed_in")
    sent = request.headers.get("X-CSRF-Token", "")
    if request.method not in SAFE_METHODS and not hmac.compare_digest(found.csrf.encode(), sent.encode()):
        raise Forbidden(
            "The X-CSRF-Token header is missing or does not belong to this session. Reload the page.", code="bad_csrf"
        )
    g.principal = found
    return found


def remember_guest(response: Response, slug: str, guest: GuestSession) -> None:
    """Set the cookie of a guest session."""
    response.set_cookie(
        rules.cookie_name(slug),
        cookies.encode(guest, parts().sealer),
        max_age=max(1, (guest.ends_at - parts().clock()) // 1000),
        secure=parts().config.secure_cookies,
        httponly=True,
        samesite="Lax",
    )


def remember(response: Response, slug: str, organisation_id: str, opened: Opened) -> None:
    """Set the cookie of a session that has just begun, and let the browser be known to the login."""
    response.set_cookie(
        rules.customer_cookie_name(slug),
        f"{organisation_id}.{opened.token}",
        max_age=rules.SESSION_MS // 1000,
        secure=parts().config.secure_cookies,
        httponly=True,
        samesite="Lax",
    )
    known_browsers.remember(response, opened.login)


def forget(response: Response, *names: str) -> None:
    """Delete these cookies."""
    for name in names:
        response.delete_cookie(name, httponly=True, samesite="Lax", secure=parts().config.secure_cookies)
