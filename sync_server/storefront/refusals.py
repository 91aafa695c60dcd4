"""Refusals in the words of the visitor's language; what has no text there keeps the words of the server."""

from __future__ import annotations

from shared.errors import GatehouseError
from sync_server.storefront.page import Page

_SAME = {
    "seat_held_by_another_user": "insufficient_inventory",
    "seat_not_available": "insufficient_inventory",
    "seat_no_longer_available": "insufficient_inventory",
    "block_at_capacity": "insufficient_inventory",
    "event_unavailable": "event_not_available",
    "event_sales_closed": "event_not_available",
    "no_session": "hold_expired",
    "no_checkout_session": "hold_expired",
}
"""Codes that mean the same to whoever buys."""


def in_words(page: Page, refusal: GatehouseError) -> str:
    """What happened, and what to do."""
    code = refusal.error_code
    key = f"refused.{_SAME.get(code, code)}"
    return page.t(key) if key in page.t else refusal.message
