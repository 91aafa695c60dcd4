"""The wall: who is inside, in large digits, for screens at which nobody signs in; and the links of such screens."""

from __future__ import annotations

from typing import Final

import segno
from flask import redirect, request, url_for
from markupsafe import Markup
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import NotFound
from sync_server.admin.door.board import board
from sync_server.admin.page import bp, current_organisation, page, render_page
from sync_server.events import queries as events
from sync_server.live import wall_links
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import context

_GONE: Final = "wall_link_not_found"


@bp.get("/events/<event_id>/wall")
@page()
def wall(event_id: str) -> str:
    """The wall, for somebody who is signed in."""
    with parts().database.reading() as session:
        return _wall(session, EventKey(current_organisation(), event_id))


@bp.get("/wall/<token>")
def wall_by_link(token: str) -> str:
    """The wall, for whoever has its link; it names nobody."""
    with parts().database.reading() as session:
        return _wall(session, wall_links.opened(session, parts().sealer, token))


def _wall(session: Session, key: EventKey) -> str:
    now = parts().clock()
    event = events.event(session, *key)
    return render_page("door/wall.html", event=event, board=board(session, event, now))


@bp.get("/events/<event_id>/screens")
@page(Action.MANAGE_DEVICES)
def screens(event_id: str) -> str:
    """The links of an event's wall, each with its address."""
    with parts().database.reading() as session:
        event = events.event(session, current_organisation(), event_id)
        links = wall_links.open_links(session, event.key)
    shown = [(link, _address(link)) for link in links]
    return render_page("door/screens.html", event=event, links=shown)


@bp.post("/events/<event_id>/screens")
@page(Action.MANAGE_DEVICES)
def make_screen(event_id: str) -> WerkzeugResponse:
    """Make a link for one more screen."""
    with parts().database.writing() as session:
        event = events.event(session, current_organisation(), event_id)
        link = wall_links.make(session, event.key, request.form.get("name", "")[:200], context())
        link_id = link.id
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
    path = url_for("admin.wall_by_link", token=wall_links.token_of(parts().sealer, link))
    return parts().config.base_url.rstrip("/") + path
