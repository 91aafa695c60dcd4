"""What a guest may do, and how many of them one address may send."""

from __future__ import annotations

from typing import Final

FROM_ONE_ADDRESS_MS: Final = 5 * 60 * 1000
"""Guests of one address are counted for so long; a house full of people may well share one."""
COOKIE_PREFIX: Final = "gatehouse_guest_"


def cookie_name(slug: str) -> str:
    """Each organisation has a cookie of its own: whoever looks at two shops keeps both baskets."""
    return COOKIE_PREFIX + slug.replace("-", "_")
