"""Schemas of requests and responses about the covers of an event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from sync_server.images.urls import image_url
from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.schemas import RequestBody, WholeList

Alt = Annotated[str, Field(max_length=300)]
ImageId = Annotated[str, Field(pattern="^[0-9a-f]{40}$")]


class CoverView(BaseModel):
    """A cover; sizes and formats of an image differ only in the last part of its URL."""

    id: str
    alt: str
    url: str
    thumbnail_url: str


class CoversView(EditedView, WholeList):
    """The covers of an event, in order."""

    items: list[CoverView]


class CoverOrder(RequestBody):
    """The covers to keep, in their new order; those left out are removed."""

    ids: Annotated[list[ImageId], Field(max_length=8)]


class CoverText(RequestBody):
    """Alternative text of a cover."""

    alt: Alt


def cover_views(ids: Sequence[str], alts: Mapping[str, str]) -> list[CoverView]:
    """Views of covers by image id."""
    return [
        CoverView(id=id, alt=alts.get(id, ""), url=image_url(id, "1600.jpg"), thumbnail_url=image_url(id, "320.webp"))
        for id in ids
    ]
