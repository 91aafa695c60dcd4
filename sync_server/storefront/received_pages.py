"""/o/{slug}/ticket: a ticket that somebody passes on, for whoever has the link.

Its code stands behind the # of the link; a script sends it in a form, so that no address ever holds it.
"""

from __future__ import annotations

from flask import Response, request

from shared.errors import GatehouseError
from sync_server.events import queries as events
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.form_fields import typed_line
from sync_server.plumbing.web import context
from sync_server.self_service import transfers, views
from sync_server.storefront.account.drawn_codes import shown_tickets
from sync_server.storefront.cards import millis
from sync_server.storefront.page import Page, bp, page_of, render
from sync_server.storefront.refusals import in_words
from sync_server.storefront.visitors import require_same_site
from sync_server.ticket_files import faces
from sync_server.ticket_files.faces import Setting
from sync_server.ticket_files.schemas import faces_view


def _code() -> str:
    return request.form.get("code", "").strip()[:200]


@bp.get("/<slug>/ticket")
def offered(slug: str) -> Response:
    """Takes the code of the link."""
    page = page_of(slug)
    return _asking(page)


def _asking(page: Page, problem: str = "", status: int = 200) -> Response:
    form = {"action": f"{page.shop.at}/ticket", "title": page.t("pass_on.accept_title"), "go": page.t("pass_on.open")}
    return render(page, "one_time.html", status, **form, problem=problem)


@bp.post("/<slug>/ticket")
def show_offer(slug: str) -> Response:
    """Which ticket is offered; nothing is changed."""
    require_same_site()
    page = page_of(slug)
    return _offer(page)


def _offer(page: Page, problem: str = "", status: int = 200) -> Response:
    try:
        with parts().database.reading() as session:
            row = transfers.find(session, page.shop.id, _code(), parts().clock())
            found = views.offered_ticket(session, row)
            timezone = events.details(session, page.shop.id, row.event_id).timezone
    except GatehouseError as refusal:
        return _refused(page, refusal)
    style = page.style(timezone)
    times = {name: style.moment(millis(str(at))) for name, at in (("day", found.starts_at), ("until", found.ends_at))}
    return render(page, "offered.html", status, ticket=found, code=_code(), problem=problem, **times)


def _refused(page: Page, refusal: GatehouseError) -> Response:
    ended = refusal.error_code == "link_ended"
    return _asking(page, page.t("pass_on.link_ended") if ended else in_words(page, refusal), refusal.status)


@bp.post("/<slug>/ticket/accept")
def accept_offer(slug: str) -> Response:
    """The ticket is the recipient's, with a new code; the one before admits nobody."""
    require_same_site()
    page, name = page_of(slug), typed_line("name", 100)
    if not name:
        return _offer(page, page.t("buyer.name_missing"), 400)
    try:
        with parts().database.writing() as session:
            row = transfers.accept(session, page.shop.id, _code(), name, context())
            setting = Setting.read(session, EventKey(page.shop.id, row.event_id), page.language)
            found = faces_view(faces.faces_of(session, parts().sealer, setting, [row]), page.shop.colour)
    except GatehouseError as refusal:
        return _refused(page, refusal)
    return render(page, "own_ticket.html", faces=shown_tickets(found.tickets), accepted=True)


@bp.post("/<slug>/ticket/decline")
def decline_offer(slug: str) -> Response:
    """The ticket stays with its owner."""
    require_same_site()
    page = page_of(slug)
    try:
        with parts().database.writing() as session:
            transfers.decline(session, page.shop.id, _code(), context())
    except GatehouseError as refusal:
        return _refused(page, refusal)
    title, message = page.t("pass_on.declined_title"), page.t("pass_on.declined_help")
    return render(page, "message.html", title=title, message=message)
