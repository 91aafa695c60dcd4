"""Schemas of requests and responses about badges and wristbands."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.one_line import SEVERAL_LINES
from sync_server.plumbing.api.schemas import RequestBody, View, WholeList


class ChooseBadge(RequestBody):
    """What gates print: a layout that comes along, by its name in `ready_made`, or one's own in `layout`, as TOML."""

    ready_made: Annotated[str, Field(min_length=1, max_length=40)] | None = None
    layout: Annotated[str, Field(min_length=1, max_length=12_000), SEVERAL_LINES] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.ready_made is None) == (self.layout is None):
            raise ValueError("send either `ready_made` or `layout`")
        return self


class BadgeView(EditedView):
    """What gates print for tickets of a type: nothing where the layout is empty.

    `logo` tells whether the organisation's logo is printed; it is no part of the layout.
    """

    ticket_type: int
    title: str
    layout: str
    logo: bool


class BadgesView(WholeList):
    """The badges of an event."""

    items: list[BadgeView]


class LayoutView(View):
    """A layout that comes along."""

    name: str
    title: str
    layout: str


class ReadyMadeView(WholeList):
    """The layouts that come along."""

    items: list[LayoutView]
