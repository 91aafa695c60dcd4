"""Request bodies as organisers send them: valid by default, any field can be overridden."""

from __future__ import annotations

from typing import Any
from uuid import NAMESPACE_OID, uuid5

EVENING = 1_783_180_800_000  # 2026-07-04T16:00:00Z
MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def an_id(name: str) -> str:
    """An id, the same for the same name."""
    return str(uuid5(NAMESPACE_OID, name))


def a_venue(**changed: Any) -> dict[str, Any]:
    """A venue in Berlin."""
    place = {"city": "Berlin", "country": "DE", "address": "Hafenstraße 1, 10245 Berlin"}
    return {"name": "Harbour Hall", "timezone": "Europe/Berlin"} | place | changed


def a_gate(**changed: Any) -> dict[str, Any]:
    """The main entrance of a venue."""
    return {"code": "A", "name": "Main entrance"} | changed


def an_event(venue_id: str, **changed: Any) -> dict[str, Any]:
    """A concert that starts in two hours and lasts six."""
    times = {"start_at": EVENING + 2 * HOUR, "end_at": EVENING + 8 * HOUR}
    return {"venue_id": venue_id, "name": "Night Music", "description": "Choirs by night."} | times | changed


def a_zone(**changed: Any) -> dict[str, Any]:
    """The standing area."""
    return {"name": "Floor", "kind": "ga_standing"} | changed


def a_ticket_type(**changed: Any) -> dict[str, Any]:
    """A plain ticket for 35 euros."""
    return {"name": "Regular", "price_cents": 3500, "quantity": 100} | changed


def a_ticket_request(**changed: Any) -> dict[str, Any]:
    """One ticket of the first type."""
    chosen = {} if "seats" in changed else {"count": 1}
    return {"ticket_type": 1} | chosen | changed
