"""Who a browser is on the shop's own pages, and whether a form comes from one of them."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from flask import Response, g, request

from shared.errors import Forbidden, NotSignedIn
from sync_server.checkout.sessions.queries import Visit
from sync_server.customers import browsers, rules, service
from sync_server.customers.cookies import GuestSession
from sync_server.customers.logins import sessions
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Principal
from sync_server.plumbing.web import context
from sync_server.storefront.page import Page

GUEST: Final = "guest"
_HOUR_MS: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class Visitor:
    """The guest session of a browser at a shop, and the customer who is signed in in it: either may be missing."""

    guest: GuestSession | None
    customer: Principal | None

    @property
    def csrf(self) -> str:
        """What the forms of a page carry."""
        return self.guest.csrf if self.guest else self.customer.csrf if self.customer else ""

    def sent(self, token: str) -> bool:
        """Whether a form with this token comes from a page of this visitor."""
        known = (each.csrf for each in (self.guest, self.customer) if each is not None)
        return any(hmac.compare_digest(each.encode(), token.encode()) for each in known)


def visitor_of(page: Page) -> Visitor:
    """Who asks, by the cookies of this shop."""
    customer = browsers.customer(page.shop.slug)
    if customer is not None and customer.organisation_id != page.shop.id:
        customer = None
    guest = None
    if rules.cookie_name(page.shop.slug) in request.cookies:
        with parts().database.reading() as session:
            guest = browsers.guest(session, page.shop.slug, page.shop.id)
    return Visitor(guest, customer)


def require_form(visitor: Visitor) -> None:
    """Forbidden for a form that does not come from a page of this visitor."""
    require_same_site()
    if not visitor.sent(request.form.get("csrf_token", "")):
        raise Forbidden("Reload the page, and send it again.", code="bad_csrf")


def require_same_site() -> None:
    """Forbidden for a form of another site. Pages that shared caches keep hold no token, so browsers say it instead."""
    site, origin = request.headers.get("Sec-Fetch-Site", ""), request.headers.get("Origin", "")
    foreign = origin not in {"", "null"} and urlsplit(origin).netloc != request.host
    if site not in {"", "same-origin", "none"} or (not site and foreign):
        raise Forbidden("This form came from another site.", code="bad_csrf")


def require_guest(visitor: Visitor) -> GuestSession:
    """The guest session, whose guest acts from now on; NotSignedIn where it has ended."""
    if visitor.guest is None:
        raise NotSignedIn("This browser holds nothing here.", code="no_session")
    _act(visitor.guest)
    return visitor.guest


def require_customer(visitor: Visitor) -> Principal:
    """The customer who is signed in, and acts from now on; NotSignedIn where nobody is."""
    if visitor.customer is None:
        raise NotSignedIn("Sign in first.", code="not_signed_in")
    g.principal = visitor.customer
    return visitor.customer


def begin(page: Page, visitor: Visitor) -> GuestSession:
    """The guest session, made now if there was none; its cookie goes with the response: see `remember`."""
    guest = visitor.guest or _new_guest(page, visitor)
    _act(guest)
    return guest


def _new_guest(page: Page, visitor: Visitor) -> GuestSession:
    config = parts().config
    lasts, allowed = config.session_hours * _HOUR_MS, config.guests_per_address
    with parts().database.writing() as session:
        made = service.create_guest(session, page.shop.id, context(), lasts_ms=lasts, allowed=allowed)
        if visitor.customer is not None:
            sessions.bind_guest(session, page.shop.id, visitor.customer.session_id, made.guest_id)
    return made


def _act(guest: GuestSession) -> None:
    g.principal = Principal(GUEST, guest.guest_id, guest.organisation_id, csrf=guest.csrf)


def remember(response: Response, page: Page, guest: GuestSession) -> Response:
    """Set the cookie of the guest session."""
    browsers.remember_guest(response, page.shop.slug, guest)
    return response


def visit_of(page: Page, guest: GuestSession, event_id: str) -> Visit:
    """The guest, in the checkout of an event."""
    return Visit(EventKey(page.shop.id, event_id), GUEST, guest.guest_id)
