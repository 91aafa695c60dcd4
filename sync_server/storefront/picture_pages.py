"""/o/{slug}/…: pictures of a shop: the covers that are made for events without one, and the organiser's logo."""

from __future__ import annotations

from flask import Response

from shared.errors import NotFound
from sync_server.appearance import accents
from sync_server.appearance.made_covers import MadeCover, drawing
from sync_server.appearance.moments import LOCALES, Style
from sync_server.events import queries as events
from sync_server.events import rules
from sync_server.events.snapshot_rows import window
from sync_server.images.urls import IMMUTABLE
from sync_server.plumbing.parts import parts
from sync_server.storefront.page import bp
from sync_server.storefront.share_pictures import share_picture
from sync_server.storefront.shops import shop_of
from sync_server.ticket_files.design import design_of


@bp.get("/<slug>/events/<event_id>/cover-<language>-<colour>-<version>.svg")
def made_cover(slug: str, event_id: str, language: str, colour: str, version: str) -> Response:
    """The cover of an event without a picture. Its address names what it says, so drafts show nothing to strangers."""
    cover = _cover(slug, event_id, language, colour, version)
    return _picture(drawing(cover).encode(), "image/svg+xml")


@bp.get("/<slug>/events/<event_id>/cover-<language>-<colour>-<version>.png")
def shared_cover(slug: str, event_id: str, language: str, colour: str, version: str) -> Response:
    """The same cover for whoever shares a link to the event: messengers and networks show no drawings."""
    cover = _cover(slug, event_id, language, colour, version)
    return _picture(share_picture(cover), "image/png")


def _cover(slug: str, event_id: str, language: str, colour: str, version: str) -> MadeCover:
    shop = shop_of(parts(), slug)
    if language not in LOCALES or not accents.COLOUR.fullmatch(colour):
        raise _missing()
    with parts().database.reading() as session:
        row = events.event(session, shop.id, event_id)
        dated = None if rules.mark(row) == "postponed" else window(row)[0]
        cover = MadeCover.of(row.name, dated, Style.of(language, row.timezone), f"#{colour}")
    if cover.version != version:
        raise _missing()
    return cover


@bp.get("/<slug>/logo-<version>.png")
def logo(slug: str, version: str) -> Response:
    """The organiser's logo."""
    shop = shop_of(parts(), slug)
    with parts().database.reading() as session:
        content = design_of(session, shop.id).logo
    if not content or shop.logo != version:
        raise _missing()
    return _picture(content, "image/png")


def _picture(content: bytes, content_type: str) -> Response:
    response = Response(content, content_type=content_type)
    response.headers["Cache-Control"] = IMMUTABLE
    response.headers["Content-Security-Policy"] = "default-src 'none'"
    return response


def _missing() -> NotFound:
    return NotFound("There is no such picture.", code="picture_not_found")
