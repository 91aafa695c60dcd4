"""A concert created through the API: a venue with an entrance, an event, tickets and devices."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from scripts.local_stack.organiser import Organiser

HOUR = 3600
TIMEZONE = "Europe/Berlin"
ROWS = "AB"
WIDTH = 4


@dataclass(frozen=True, slots=True)
class Concert:
    """One event and its one entrance."""

    organiser: Organiser
    id: str
    name: str
    entrance: dict[str, Any]

    @property
    def path(self) -> str:
        """Path of the event in the API."""
        return f"/api/events/{self.id}"

    def open_doors(self) -> str:
        """Publish the event and make it live; return its status."""
        self.organiser.post(f"{self.path}/publish")
        return str(self.organiser.post(f"{self.path}/go-live")["status"])

    def ticket_type(self, quantity: int) -> int:
        """Create a ticket type; return its number."""
        kind = {"name": "Regular", "price_cents": 2500, "quantity": quantity, "zone": 1}
        return int(self.organiser.post(f"{self.path}/ticket-types", kind)["number"])

    def free_code(self) -> str:
        """Make a code that takes off the whole price; return it."""
        worth = {"kind": "discount", "name": "Friends of the house", "percent": 100}
        batch = self.organiser.post(f"{self.path}/code-batches", worth)["number"]
        return self.organiser.text(f"{self.path}/code-batches/{batch}/codes").split()[1]

    def note_transfer(self, order: str, reference: str, key: str) -> Any:
        """Note that the invoice of an order is paid; noting it twice changes nothing."""
        return self.organiser.post(
            f"/api/orders/{order}/payments", {"method": "invoice", "reference": reference}, key=key
        )

    def new_device(self, name: str) -> tuple[str, str]:
        """Create a device at the entrance; return its id and its enrolment code."""
        device = self.organiser.post("/api/devices", {"name": name})["id"]
        assignment = {"event_id": self.id, "gate": self.entrance["number"]}
        self.organiser.put(f"/api/devices/{device}/assignments", {"assignments": [assignment]})
        return device, str(self.organiser.post(f"/api/devices/{device}/code")["code"])


def announce(organiser: Organiser) -> Concert:
    """Create a concert for tonight, still a draft."""
    place = {"city": "Berlin", "country": "DE", "address": "Am Sudhaus 1, 12053 Berlin"}
    venue = organiser.post("/api/venues", {"name": "Old Brewery", "timezone": TIMEZONE, **place})
    entrance = organiser.post(f"/api/venues/{venue['id']}/gates", {"code": "W", "name": "West"})
    now = time.time()
    times = {"start_at": _iso(now + HOUR), "end_at": _iso(now + 6 * HOUR), "cutover_hour": _cutover_hour(now)}
    texts = {"name": "Opening Night", "description": "The first concert in the old brewery."}
    event = organiser.post("/api/events", {"venue_id": venue["id"], **texts, **times})
    layout = organiser.post(f"/api/venues/{venue['id']}/layouts", _stalls())["id"]
    organiser.post(f"/api/venues/{venue['id']}/layouts/{layout}/activate")
    organiser.put(f"/api/events/{event['id']}/layout", {"layout_id": layout})
    return Concert(organiser, event["id"], event["name"], entrance)


def _stalls() -> dict[str, Any]:
    seats = [{"row": row, "number": number} for row in ROWS for number in range(1, WIDTH + 1)]
    return {"name": "Stalls", "zones": [{"name": "Stalls", "zone_type": "reserved_seating", "seats": seats}]}


def _cutover_hour(now: float) -> int:
    """Tonight's one event day begins before now, whatever the hour, and ends after the concert."""
    return (datetime.fromtimestamp(now, ZoneInfo(TIMEZONE)).hour + 15) % 24


def _iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
