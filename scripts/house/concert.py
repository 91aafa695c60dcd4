"""A concert as an organiser makes it over the API: a venue with an entrance, an event, tickets and devices."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from scripts.house.organiser import Organiser

HOUR = 3600


@dataclass(frozen=True, slots=True)
class Concert:
    """One event and its one entrance."""

    organiser: Organiser
    id: str
    name: str
    entrance: dict[str, Any]

    @property
    def path(self) -> str:
        """Its address in the API."""
        return f"/api/events/{self.id}"

    def open_doors(self) -> str:
        """Publish it and let it take real scans; answers its status."""
        self.organiser.post(f"{self.path}/publish")
        return str(self.organiser.post(f"{self.path}/go-live")["status"])

    def ticket_type(self, quantity: int) -> int:
        """The number of a new kind of ticket."""
        kind = {"name": "Regular", "price_cents": 2500, "quantity": quantity}
        return int(self.organiser.post(f"{self.path}/ticket-types", kind)["number"])

    def issue(self, kind: int, count: int, key: str) -> list[dict[str, Any]]:
        """Issue tickets; with the same key they are issued once, however often it is asked."""
        wish = {"ticket_type": kind, "count": count}
        return list(self.organiser.post(f"{self.path}/tickets", wish, key=key)["items"])

    def new_device(self, name: str) -> tuple[str, str]:
        """A device that stands at the entrance: its id, and the code by which a machine becomes it."""
        device = self.organiser.post("/api/devices", {"name": name})["id"]
        post = {"event_id": self.id, "gate": self.entrance["number"]}
        self.organiser.put(f"/api/devices/{device}/assignments", {"assignments": [post]})
        return device, str(self.organiser.post(f"/api/devices/{device}/code")["code"])


def announce(organiser: Organiser) -> Concert:
    """A concert of tonight, still a draft."""
    venue = organiser.post("/api/venues", {"name": "Old Brewery", "timezone": "Europe/Berlin"})
    entrance = organiser.post(f"/api/venues/{venue['id']}/gates", {"code": "W", "name": "West"})
    times = {"start_at": _iso(time.time() + HOUR), "end_at": _iso(time.time() + 6 * HOUR)}
    event = organiser.post("/api/events", {"venue_id": venue["id"], "name": "Opening Night", **times})
    return Concert(organiser, event["id"], event["name"], entrance)


def _iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
