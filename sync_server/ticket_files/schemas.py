"""Schemas of requests and responses about what tickets look like."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.schemas import PatchBody
from sync_server.ticket_files.models import TicketDesignRow

HexColour = Annotated[str, Field(pattern="^#[0-9a-fA-F]{6}$")]


class ChangeDesign(PatchBody):
    """Changes to what tickets look like; `terms` stand below, with whoever answers for the event."""

    colour: HexColour | None = None
    terms: Annotated[str, Field(max_length=2000)] | None = None


class DesignView(EditedView):
    """What the organisation's tickets look like; text on the colour is black or white, whichever can be read."""

    colour: str
    terms: str
    logo: bool


def design_view(row: TicketDesignRow) -> DesignView:
    """The design as organisers see it."""
    return DesignView(colour=row.colour, terms=row.terms, logo=row.logo is not None)
