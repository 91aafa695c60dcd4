"""The wall: who is inside, in large digits, for screens at which nobody signs in; and the links of such screens."""

from __future__ import annotations

from typing import Final

import segno
from flask import redirect, request, url_for
from markupsafe import Markup
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import InvalidRequest, NotFound
from sync_server.admin import forms
from sync_server.admin.door.board import board
from sync_server.admin.page import bp, current_organisation, page, render_page, require_same_site
from sync_server.events import queries as events
from sync_server.live import wall_links
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context

_GONE: Final = "wall_link_not_found"
COOKIE: Final = "gatehouse_wall"
_KEPT_S: Final = 400 * 86_400  # as long as browsers keep one; the link itself ends when somebody ends it
Page = str | tuple[str, int] | WerkzeugResponse


@bp.get("/events/<event_id>/wall")
@page()
def wall(event_id: str) -> str:
    """The wall, for somebody who is signed in."""
    with parts().database.reading() as session:
        return _wall(session, EventKey(current_organisation(), event_id))


@bp.get("/wall")
def wall_of_screen() -> Page:
    """The wall, for a screen that has opened its link; it names nobody."""
    token = request.cookies.get(COOKIE, "")
    if not token:
        return render_page("door/wall_link.html", problem="")
    try:
        with parts().database.reading() as session:
            return _wall(session, wall_links.opened(session, parts().sealer, token), by_link=True)
    except (NotFound, wall_links.LinkEnded) as error:
        return render_page("door/wall_link.html", problem=error.message), error.status


@bp.post("/wall")
def open_wall() -> Page:
    """Take the code from behind the # of a link, which is in no request and no log, and keep it on this screen."""
    require_same_site()
    token = request.form.get("code", "").strip()[:500]
    try:
        with parts().database.reading() as session:
            wall_links.opened(session, parts().sealer, token)
    except (NotFound, wall_links.LinkEnded) as error:
        return render_page("door/wall_link.html", problem=error.message), error.status
    response = redirect(url_for("admin.wall_of_screen"))
    response.set_cookie(
        COOKIE,
        token,
        max_age=_KEPT_S,
        path=url_for("admin.wall_of_screen"),
        secure=parts().config.secure_cookies,
        httponly=True,
        samesite="Strict",
    )
    return response


def _wall(session: Session, key: EventKey, *, by_link: bool = False) -> str:
    now = parts().clock()
    event = events.event(session, *key)
    return render_page("door/wall.html", event=event, board=board(session, event, now), by_link=by_link)


@bp.get("/events/<event_id>/screens")
@page(Action.MANAGE_DEVICES)
def screens(event_id: str) -> str:
    """The links of an event's wall, each with its address."""
    return _screens(event_id, {})


def _screens(event_id: str, problems: dict[str, str]) -> str:
    with parts().database.reading() as session:
        event = events.event(session, current_organisation(), event_id)
        links = wall_links.open_links(session, event.key)
    shown = [(link, _address(link)) for link in links]
    return render_page("door/screens.html", event=event, links=shown, problems=problems, typed=request.form)


@bp.post("/events/<event_id>/screens")
@page(Action.MANAGE_DEVICES)
def make_screen(event_id: str) -> Page:
    """Make a link for one more screen."""
    try:
        with parts().database.writing() as session:
            event = events.event(session, current_organisation(), event_id)
            link_id = wall_links.make(session, event.key, forms.text("name", 200), context()).id
    except InvalidRequest as error:
        return _screens(event_id, forms.problems_of(error)), error.status
    return redirect(url_for("admin.screen", event_id=event_id, link_id=link_id))


@bp.get("/events/<event_id>/screens/<link_id>")
@page(Action.MANAGE_DEVICES)
def screen(event_id: str, link_id: str) -> str:
    """The address of one screen, to type or to scan."""
    with parts().database.reading() as session:
        event = events.event(session, current_organisation(), event_id)
        found = [link for link in wall_links.open_links(session, event.key) if link.id == link_id]
    if not found:
        raise NotFound("There is no such link.", code=_GONE)
    address = _address(found[0])
    return render_page("door/screen.html", event=event, link=found[0], address=address, qr_code=_qr_svg(address))


@bp.post("/events/<event_id>/screens/<link_id>/end")
@page(Action.MANAGE_DEVICES)
def end_screen(event_id: str, link_id: str) -> WerkzeugResponse:
    """End a link."""
    with parts().database.writing() as session:
        event = events.event(session, current_organisation(), event_id)
        wall_links.end(session, event.key, link_id, context())
    return redirect(url_for("admin.screens", event_id=event_id))


def _qr_svg(address: str) -> Markup:
    return Markup(segno.make_qr(address, error="m").svg_inline(scale=6, border=4, omitsize=True, light="#fff"))  # noqa: S704 - segno draws it


def _address(link: wall_links.WallLink) -> str:
    page_of_walls = parts().config.base_url.rstrip("/") + url_for("admin.wall_of_screen")
    return f"{page_of_walls}#{wall_links.token_of(parts().sealer, link)}"
