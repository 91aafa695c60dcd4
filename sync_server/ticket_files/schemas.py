"""Schemas of requests and responses about what tickets look like, and what stands on them."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from sync_server.appearance.colours import Colour, readable, text_on
from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.one_line import SEVERAL_LINES
from sync_server.plumbing.api.schemas import PatchBody, View
from sync_server.ticket_files.face import TicketFace
from sync_server.ticket_files.models import TicketDesignRow
from sync_server.tickets.keys import codes

HexColour = Annotated[str, Field(pattern="^#[0-9a-fA-F]{6}$")]
_HOST = r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?"
Origin = Annotated[
    str, Field(pattern=rf"^(?:https://{_HOST}|http://(?:localhost|127\.0\.0\.1)(?::[0-9]{{1,5}})?)$", max_length=120)
]
"""A website as browsers name it: https://band.example, without a path; http only for trying on one's own machine."""


class ChangeDesign(PatchBody):
    """Changes to what tickets look like; `terms` stand below, with whoever answers for the event.

    `embed_origins` are the websites that may show the shop inside their pages, such as https://band.example.
    """

    colour: HexColour | None = None
    terms: Annotated[str, Field(max_length=2000), SEVERAL_LINES] | None = None
    embed_origins: Annotated[list[Origin], Field(max_length=20)] | None = None


class DesignView(EditedView):
    """What the organisation's tickets look like; text on the colour is black or white, whichever can be read."""

    colour: str
    terms: str
    logo: bool
    embed_origins: list[str]


def design_view(row: TicketDesignRow) -> DesignView:
    """The design as organisers see it."""
    return DesignView(colour=row.colour, terms=row.terms, logo=row.logo is not None, embed_origins=row.embed_origins)


class LabelledView(View):
    """A value, and what it is called."""

    label: str
    value: str


class TicketFaceView(View):
    """All that stands on one ticket; `svg` draws its code.

    `admits` is how many guests the code is good for: the last of an order's several is one for all of them.
    """

    title: str
    organiser: str
    event: str
    day: str
    time: str
    place: str
    address: str
    seat: list[LabelledView]
    details: list[LabelledView]
    notice: str
    number: str
    confirmation_label: str
    confirmation_code: str
    show: str
    terms: str
    admits: int
    svg: str


class TicketFacesView(BaseModel):
    """What stands on the tickets of an order.

    `text_colour` can be read on the organiser's `colour`, `accent_colour` on white; `logo` is a picture as data: URL,
    or empty, so that the page needs no second request where the network is bad. It belongs on white.
    """

    language: str
    colour: str
    text_colour: str
    accent_colour: str
    logo: str
    tickets: list[TicketFaceView]


def faces_view(faces: Sequence[TicketFace], colour: str, logo: bytes | None = None) -> TicketFacesView:
    """The tickets as their page shows them, in the colours of the PDF."""
    shown = [TicketFaceView.of(face, svg=codes.svg(face.code).decode()) for face in faces]
    return TicketFacesView(
        language=faces[0].language,
        colour=colour,
        text_colour=str(text_on(Colour.of(colour))),
        accent_colour=str(readable(Colour.of(colour))),
        logo=f"data:image/png;base64,{base64.b64encode(logo).decode()}" if logo else "",
        tickets=shown,
    )
