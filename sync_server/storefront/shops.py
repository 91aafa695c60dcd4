"""The shop of an organisation, as every page of it needs it; read from the cache on pages that a crowd opens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Final

import orjson

from sync_server.customers import browsers
from sync_server.plumbing.caching import cache
from sync_server.plumbing.parts import Parts
from sync_server.ticket_files.design import accent_of, design_of

FAMILY: Final = "shop"


@dataclass(frozen=True, slots=True)
class Shop:
    """An organisation as its visitors see it."""

    id: str
    slug: str
    name: str
    language: str
    currency: str
    colour: str
    logo: str  # its version; empty where there is none
    terms: str
    embed_origins: Sequence[str] = ()  # websites that may show it inside their pages

    @property
    def at(self) -> str:
        """The path that all its pages begin with."""
        return f"/o/{self.slug}"


def shop_of(parts: Parts, slug: str) -> Shop:
    """The shop with this slug, a second old at most; NotFound."""

    def load() -> bytes:
        with parts.database.autocommit_reading() as session:
            row = browsers.shop(session, slug)
            design = design_of(session, row.id)
            logo = blake2b(design.logo, digest_size=8).hexdigest() if design.logo else ""
            about = row.id, row.slug, row.name, row.language, row.currency
            found = Shop(*about, accent_of(design), logo, design.terms, design.embed_origins)
        return orjson.dumps(asdict(found))

    return Shop(**orjson.loads(parts.cache.fetch(cache.public_key(FAMILY, slug), cache.SHOP, load)))
