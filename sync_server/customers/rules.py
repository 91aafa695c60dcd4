"""Names of guest cookies, and the window in which guests of one address are counted."""

from __future__ import annotations

from typing import Final

ADDRESS_WINDOW_MS: Final = 5 * 60 * 1000
"""New guests of one client address are counted for this long. A whole audience may share one address."""
COOKIE_PREFIX: Final = "gatehouse_guest_"


def cookie_name(slug: str) -> str:
    """The cookie of one organisation, so that a visitor may hold seats in two shops at once."""
    return COOKIE_PREFIX + slug.replace("-", "_")
