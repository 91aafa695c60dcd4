"""An event with a queue, its guests, and what they see of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.app_server import ApiClient, AppServer
from tests.builders import EVENING, HOUR, MINUTE
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event

OPENING = EVENING + HOUR
TAB = "5e" * 16


@dataclass
class Rush:
    """A seated event with a queue."""

    app_server: AppServer
    sale: SeatedEvent

    @property
    def path(self) -> str:
        """The address of the queue for guests."""
        return f"/api/o/{self.sale.slug}/events/{self.sale.id}/queue"

    @property
    def settings(self) -> str:
        """The address of the queue for organisers."""
        return f"/api/events/{self.sale.id}/queue"

    def let_in(self, slots: int) -> None:
        """Set how many may shop at once."""
        self.sale.api.put(f"{self.sale.path}/checkout", {"sessions": slots})

    def until(self, moment: int) -> None:
        """Go on to that moment."""
        self.app_server.now = moment

    def open_room(self) -> None:
        """Go on until the waiting room is open."""
        self.until(OPENING - 30 * MINUTE)

    def join(self, guest: ApiClient | None = None, status: int = 201) -> ApiClient:
        """Have a guest join, a new one unless given."""
        guest = guest or self.sale.guest()
        guest.post(self.path, status=status)
        return guest

    def place(self, guest: ApiClient) -> dict[str, Any]:
        """What a guest sees of the own place."""
        seen: dict[str, Any] = guest.get(self.path)
        return seen

    def take_pass(self, guest: ApiClient, tab: str = TAB) -> tuple[int, str]:
        """Status, and the error if there is one, of a tab that takes the pass."""
        answer = guest.ask("POST", f"{self.path}/pass", {"tab": tab})
        assert answer.json is not None
        return answer.status_code, answer.json.get("error", {}).get("code", "")

    def hold(self, guest: ApiClient, seat: str, tab: str = TAB) -> tuple[int, str]:
        """Status, and the error if there is one, of a hold from a tab."""
        answer = guest.ask("POST", self.sale.reserve_path(seat), {}, **{"X-Queue-Tab": tab})
        assert answer.json is not None
        return answer.status_code, answer.json.get("error", {}).get("code", "")

    def in_order(self, guests: list[ApiClient]) -> list[ApiClient]:
        """These guests in the order of their numbers."""
        return sorted(guests, key=lambda guest: int(self.place(guest)["number"]))


def a_rush(app_server: AppServer, *, slots: int = 2, **queue: Any) -> Rush:
    """An event whose sale begins in an hour, and a queue for it; two may shop at once unless told otherwise."""
    rush = Rush(app_server, a_seated_event(app_server, sale_start_at=OPENING))
    rush.let_in(slots)
    rush.sale.api.put(rush.settings, {"room_minutes": 30} | queue)
    return rush
