"""/o/{slug}/sign-in: signing in by a link that is mailed, and out again."""

from __future__ import annotations

from flask import Response, redirect, request

from shared.errors import GatehouseError
from sync_server.customers import browsers, rules, service
from sync_server.customers.logins import links, sessions
from sync_server.customers.logins.links import Asked
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import context
from sync_server.storefront.page import Page, bp, page_of, render
from sync_server.storefront.visitors import require_form, require_same_site, visitor_of


@bp.get("/<slug>/sign-in")
def sign_in(slug: str) -> Response:
    """Asks for an address, or takes the code of the link: a script sends what stands behind #, which no request has."""
    return render(page_of(slug), "sign_in.html")


@bp.post("/<slug>/sign-in")
def ask_for_link(slug: str) -> Response:
    """Mail a link; what is said is the same for every address."""
    require_same_site()
    page, email = page_of(slug), request.form.get("email", "").strip()[:254]
    if parts().config.mail_url is None:
        return render(page, "sign_in.html", 503, problem=page.t("account.no_mail"))
    try:
        with parts().database.reading() as session:
            shop = browsers.shop(session, slug)
        links.ask(parts(), shop, Asked(email, page.language), context())
    except GatehouseError as refusal:
        problem = page.t("buyer.email_wrong") if refusal.status == 400 else refusal.message
        return render(page, "sign_in.html", refusal.status, problem=problem, email=email)
    return render(page, "link_sent.html", email=email)


@bp.post("/<slug>/sign-in/code")
def sign_in_by_link(slug: str) -> Response:
    """Sign in with the code of a link: what this browser has bought as a guest is the customer's from now on."""
    require_same_site()
    page = page_of(slug)
    guest = visitor_of(page).guest
    try:
        with parts().database.writing() as session:
            customer = links.use(session, page.shop.id, request.form.get("code", "").strip()[:200], context())
            guest_id = guest.guest_id if guest is not None else None
            opened = sessions.open_session(session, customer, guest_id, context(), by_link=True)
    except GatehouseError as refusal:
        ended = refusal.error_code == "link_ended"
        problem = page.t("account.link_ended") if ended else refusal.message
        return render(page, "sign_in.html", refusal.status, problem=problem)
    response = _to(page, "/account")
    browsers.remember(response, slug, page.shop.id, opened)
    return response


@bp.post("/<slug>/sign-out")
def sign_out(slug: str) -> Response:
    """Sign out. The guest session ends too, so that the next person at this browser finds nothing."""
    page = page_of(slug)
    visitor = visitor_of(page)
    require_form(visitor)
    if visitor.customer is not None:
        with parts().database.writing() as session:
            guest_id = sessions.end(session, visitor.customer, visitor.customer.session_id, context())
            if guest_id is not None:
                service.end_session(session, page.shop.id, guest_id, context())
    response = _to(page, "")
    browsers.forget(response, rules.customer_cookie_name(slug), rules.cookie_name(slug))
    return response


def _to(page: Page, path: str) -> Response:
    return redirect(f"{page.shop.at}{path}", 303)  # type: ignore[return-value]
