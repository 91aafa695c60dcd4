"""/api/o/{slug}/session: a guest's session at an organisation's shop; and how a request becomes a guest's."""

from __future__ import annotations

import hmac
from typing import Any

from apiflask import APIBlueprint
from flask import Request, Response, g, request

from shared.errors import Forbidden, NotFound, NotSignedIn
from sync_server.accounts import queries as accounts
from sync_server.accounts.cookies import COOKIE as STAFF_COOKIE
from sync_server.customers import cookies, queries, rules, schemas, service
from sync_server.customers.cookies import Card
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Principal
from sync_server.plumbing.web import SAFE, current_request, deed, maybe_principal

bp = APIBlueprint("customers", __name__, url_prefix="/api/o/<slug>/session", tag="Guests")

MOST_COOKIES = 20
FOR_GUESTS = "holds"
"""The room whose unsafe requests are told what they lack, where a guest's cookie comes without its token."""


def identify() -> None:
    """Find out whether a guest asks: one who shows a guest's token means it, whoever is signed in besides."""
    asked = current_request()
    if "Authorization" in asked.headers:
        return
    cards = _cards(asked)
    if not cards:
        return
    shown = asked.headers.get("X-CSRF-Token") or (request.form.get("csrf_token", "") if _posts_form() else "")
    mine = next((card for card in cards if hmac.compare_digest(card.csrf.encode(), shown.encode())), None)
    if mine is None and STAFF_COOKIE not in asked.cookies:
        mine = _without_token(cards)
    if mine is not None:
        g.principal = Principal("guest", mine.guest_id, mine.organisation_id, csrf=mine.csrf)


def _cards(asked: Request) -> list[Card]:
    texts = [text for name, text in asked.cookies.items() if name.startswith(rules.COOKIE_PREFIX)]
    if not texts:
        return []
    now, sealer = parts().clock(), parts().sealer
    found = (cookies.read(text, sealer, now) for text in texts[:MOST_COOKIES])
    return [card for card in found if card is not None]


def _posts_form() -> bool:
    return request.mimetype in {"application/x-www-form-urlencoded", "multipart/form-data"}


def _without_token(cards: list[Card]) -> Card | None:
    if request.method in SAFE:
        return cards[0] if len(cards) == 1 else None
    if request.blueprint == FOR_GUESTS:
        raise Forbidden(
            "This request lacks the header X-CSRF-Token, or it is not that of this session. Load the page again.",
            code="bad_csrf",
        )
    return None


@bp.post("")
@bp.doc(summary="Come in as a guest", responses={200: "A guest already", 201: "A guest now"})
def come_in(slug: str) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Become a guest of this organisation: sets a cookie, and answers with the CSRF token of unsafe requests."""
    with parts().database.reading() as session:
        shop = _shop(session, slug)
        card, status = _present(session, slug, shop.id), 200
    if card is None:
        hours, allowed = parts().config.session_hours, parts().config.guests_per_address
        with parts().database.writing() as session:
            card, status = service.let_in(session, shop.id, deed(), lasts_ms=hours * 3_600_000, allowed=allowed), 201
    return _view(card, shop).model_dump(mode="json"), status, {"Set-Cookie": _cookie(slug, card)}


@bp.get("")
@bp.output(schemas.GuestView)
def who_am_i(slug: str) -> schemas.GuestView:
    """Who this browser is at this organisation, with the CSRF token once more."""
    return _view(*_guest(slug))


@bp.delete("")
@bp.doc(summary="Leave", responses={204: "Gone"})
def leave(slug: str) -> tuple[str, int, dict[str, str]]:
    """End the guest's session, and give up what it holds."""
    card, _ = _guest(slug)
    if not hmac.compare_digest(card.csrf.encode(), request.headers.get("X-CSRF-Token", "").encode()):
        raise Forbidden("Show the session's X-CSRF-Token to end it.", code="bad_csrf")
    with parts().database.writing() as session:
        service.end(session, card.guest_id, deed().now)
    answer = Response()
    answer.delete_cookie(rules.cookie_name(slug), httponly=True, samesite="Lax", secure=parts().config.secure_cookies)
    return "", 204, {"Set-Cookie": answer.headers["Set-Cookie"]}


def _guest(slug: str) -> tuple[Card, schemas.Shop]:
    home = ""
    if rules.cookie_name(slug) in request.cookies:
        with parts().database.reading() as session:
            shop = _shop(session, slug)
            card, home = _present(session, slug, shop.id), shop.id
        if card is not None:
            return card, shop
    words = "This browser is no guest here yet: POST to this address."
    asking = maybe_principal()  # who has left still shows a card that reads well: nobody looks it up on the way in
    if asking is not None and (asking.kind, asking.organisation_id) != ("guest", home):
        raise NotFound(words, code="no_session")
    raise NotSignedIn(words, code="no_session")


def _shop(session: Any, slug: str) -> schemas.Shop:
    row = accounts.organisation_by_slug(session, slug)
    if row is None:
        raise NotFound("There is no shop at this address.", code="organisation_not_found")
    return schemas.Shop(row.id, row.slug, row.name)


def _present(session: Any, slug: str, organisation_id: str) -> Card | None:
    """The guest who holds this shop's cookie, unless they left: a copy of the cookie may outlive that."""
    text, now = request.cookies.get(rules.cookie_name(slug), ""), parts().clock()
    card = cookies.read(text, parts().sealer, now) if text else None
    if card is None or card.organisation_id != organisation_id or not queries.is_here(session, card.guest_id, now):
        return None
    return card


def _view(card: Card, shop: schemas.Shop) -> schemas.GuestView:
    return schemas.GuestView.of(card.csrf, card.ends_at, shop)


def _cookie(slug: str, card: Card) -> str:
    answer = Response()
    answer.set_cookie(
        rules.cookie_name(slug),
        cookies.written(card, parts().sealer),
        max_age=max(1, (card.ends_at - parts().clock()) // 1000),
        secure=parts().config.secure_cookies,
        httponly=True,
        samesite="Lax",
    )
    return answer.headers["Set-Cookie"]
