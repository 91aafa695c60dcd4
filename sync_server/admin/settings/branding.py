"""What shop, tickets and mails look like: logo, colour and terms, seen before anybody else does."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from flask import redirect, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import GatehouseError, InvalidRequest
from sync_server.accounts import queries as accounts
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page
from sync_server.admin.settings.frame import Page, render_settings
from sync_server.appearance import accents
from sync_server.appearance.colours import READABLE, WHITE, Colour, contrast, text_on
from sync_server.images import rendering
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context
from sync_server.ticket_files import design, schemas
from sync_server.ticket_files.schemas import ChangeDesign


@dataclass(frozen=True, slots=True)
class Contrasts:
    """How well a colour can be read, and what pages make of it where it cannot."""

    text: str  # on the colour: black or white
    on_fill: float
    on_page: float
    link: str  # the colour of links, so that they can be read on the page
    link_by_night: str

    @classmethod
    def of(cls, colour: str) -> Contrasts:
        """The contrasts of a colour such as #1d4ed8."""
        base = Colour.of(colour)
        day, night = accents.by_day(base), accents.by_night(base)
        on_page = contrast(base, WHITE)
        return cls(str(text_on(base)), contrast(text_on(base), base), on_page, str(day.text), str(night.text))

    @property
    def adjusted(self) -> bool:
        """Whether links are darker than the colour itself."""
        return self.on_page < READABLE


@bp.get("/settings/branding")
@page()
def branding() -> str:
    """The colour, the logo and the terms, with what they look like."""
    return _page({})


def _page(problems: dict[str, str], given: dict[str, Any] | None = None) -> str:
    with parts().database.reading() as session:
        row = design.design_of(session, current_organisation())
        organisation = accounts.organisation(session, current_organisation())
    stored = {"colour": design.accent_of(row), "terms": row.terms, "embed_origins": "\n".join(row.embed_origins)}
    shown = stored | (given or {})
    if not accents.COLOUR.fullmatch(shown["colour"].removeprefix("#").lower()):
        shown["colour"] = stored["colour"]
    logo = f"data:image/png;base64,{base64.b64encode(row.logo).decode()}" if row.logo else ""
    values = {"form": shown, "logo": logo, "organisation": organisation, "contrasts": Contrasts.of(shown["colour"])}
    values["embedding"] = {"line": _line(organisation.slug), "server": _server(), "listed": row.embed_origins}
    # The frame takes the colour that is tried, so that buttons and links are seen in it.
    preview = {"accent": accents.accent_path(shown["colour"]), "unsaved": given is not None}
    return render_settings("branding.html", "branding", problems=problems, **values, **preview)


def _server() -> str:
    return parts().config.base_url.rstrip("/")


def _line(slug: str) -> str:
    """What a website puts where the shop is to stand."""
    return f'<script src="{_server()}/o/{slug}/embed.js" async></script>\n<gatehouse-shop></gatehouse-shop>'


def _given() -> dict[str, Any]:
    return {name: forms.lines(name) for name in ("colour", "terms", "embed_origins")}


@bp.post("/settings/branding")
@page(Action.EDIT_EVENTS)
def change_branding() -> Page:
    """Try a colour, or keep it."""
    given = _given()
    try:
        changes = forms.read_changes(ChangeDesign, given | {"embed_origins": given["embed_origins"].split()})
        if forms.ticked("try"):
            return _page({}, given)
        with parts().database.writing() as session:
            _keep(session, changes)
    except GatehouseError as error:
        return _page(forms.problems_of(error), given), error.status
    return redirect(url_for("admin.branding", done="saved"))


def _keep(session: Session, changes: dict[str, Any]) -> None:
    stored = schemas.design_view(design.lock_design(session, current_organisation())).model_dump()
    different = {name: value for name, value in changes.items() if value != stored[name]}
    if different:
        design.change_design(session, current_organisation(), different, context())


@bp.post("/settings/branding/logo")
@page(Action.EDIT_EVENTS)
def put_logo() -> Page:
    """Set the logo."""
    file = request.files.get("logo")
    try:
        content = file.stream.read(rendering.MAX_BYTES + 1) if file else b""
        if not content:
            raise InvalidRequest("Choose a picture first.", field="logo")
        if len(content) > rendering.MAX_BYTES:
            raise InvalidRequest("The picture file is too large. Make it smaller and upload it again.", field="logo")
        logo = design.rendered(content)
        with parts().database.writing() as session:
            design.set_logo(session, current_organisation(), logo, context())
    except GatehouseError as error:
        return _page({"logo": error.message}), error.status
    return redirect(url_for("admin.branding", done="saved"))


@bp.post("/settings/branding/logo/remove")
@page(Action.EDIT_EVENTS)
def remove_logo() -> WerkzeugResponse:
    """Do without a logo: the name stands there instead."""
    with parts().database.writing() as session:
        design.set_logo(session, current_organisation(), None, context())
    return redirect(url_for("admin.branding", done="saved"))
