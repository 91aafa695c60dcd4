"""The accent of an event's pages: the colour of its cover, where the organiser has chosen none for the shop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from shared.errors import NotFound
from sync_server.appearance import accents
from sync_server.appearance.cover_colours import colour_of
from sync_server.images.queries import image_variant
from sync_server.plumbing.caching import cache
from sync_server.plumbing.caching.cache import CacheLifetime
from sync_server.plumbing.parts import Parts
from sync_server.storefront.shops import Shop

FAMILY: Final = "cover_accent"
_LIFETIME: Final = CacheLifetime(3_600, 86_400)
"""The colour of a picture never changes: its id is made of its content."""
_SMALLEST: Final = "320.jpg"


def accent_of(parts: Parts, shop: Shop, event: Mapping[str, Any]) -> str:
    """The colour, such as #1d4ed8; whatever it is, the stylesheet holds it to contrast."""
    if shop.colour != accents.DEFAULT or not event["covers"]:
        return shop.colour
    image_id = event["covers"][0]["id"]

    def load() -> bytes:
        try:
            with parts.database.autocommit_reading() as session:
                found = colour_of(image_variant(session, image_id, _SMALLEST).content)
        except NotFound:
            found = None
        return str(found or accents.DEFAULT).encode()

    return parts.cache.fetch(cache.public_key(FAMILY, image_id), _LIFETIME, load).decode()
