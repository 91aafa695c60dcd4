"""Shapes of requests and answers about the covers of an event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from sync_server.pictures.addresses import address
from sync_server.plumbing.shapes import Asked

Alt = Annotated[str, Field(max_length=300)]
PictureId = Annotated[str, Field(pattern="^[0-9a-f]{40}$")]


class CoverView(BaseModel):
    """A cover; the sizes and forms of a picture differ only in the last part of its address."""

    id: str
    alt: str
    url: str
    thumbnail_url: str


class CoversView(BaseModel):
    """The covers of an event, the first one first."""

    items: list[CoverView]


class CoverOrder(Asked):
    """The covers that stay, in their new order; those that are left out are taken off."""

    ids: Annotated[list[PictureId], Field(max_length=8)]


class CoverWords(Asked):
    """What a cover shows, for those who cannot see it."""

    alt: Alt


def covers_of(ids: Sequence[str], alts: Mapping[str, str]) -> list[CoverView]:
    """As everybody may see them."""
    return [
        CoverView(id=id, alt=alts.get(id, ""), url=address(id, "1600.jpg"), thumbnail_url=address(id, "320.webp"))
        for id in ids
    ]
