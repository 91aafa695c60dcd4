"""Response schemas of guest sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from pydantic import BaseModel

from shared.clock import Millis
from sync_server.plumbing.api.schemas import iso


@dataclass(frozen=True, slots=True)
class Shop:
    """The organisation whose shop is visited."""

    id: str
    slug: str
    name: str


class ShopView(BaseModel):
    """The shop of a guest session."""

    slug: str
    name: str


class GuestView(BaseModel):
    """A guest's session."""

    kind: str
    csrf_token: str
    ends_at: str
    organisation: ShopView

    @classmethod
    def of(cls, csrf: str, ends_at: Millis, shop: Shop) -> Self:
        return cls(
            kind="guest", csrf_token=csrf, ends_at=iso(ends_at), organisation=ShopView(slug=shop.slug, name=shop.name)
        )
