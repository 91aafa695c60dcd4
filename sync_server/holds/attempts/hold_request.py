"""The request for a hold, and its result: the values that pass between HTTP and the tables."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from shared.clock import Millis
from sync_server.events.days.chosen_days import ChosenDays
from sync_server.holds import rules
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.seating.plans.layout_seats import Seat
from sync_server.seating.zone_access.entitlements import Bearer


class HoldRequest(Struct, frozen=True):
    """Who asks for a hold: a guest, a user or a token of one organisation."""

    organisation_id: str
    kind: str
    id: str
    origin: str  # a hash of the address
    context: ActionContext
    bearer: Bearer = field(default_factory=Bearer)  # what restricted zones ask for
    override: bool = False  # set by the box office: rates, limits and seating rules do not apply
    source: str = "web"
    notes: str | None = None
    address: str = ""  # of the client, where it tells guests apart
    card: str | None = None  # the membership whose card was shown
    dates: tuple[str, ...] = ()  # of the days asked for; none: every day of the event
    queue_tab: str = ""  # the secret of the tab that has the pass of a queue
    early: bool = False  # a code that was shown opens the sale, which has not begun; nobody queues then

    @property
    def now(self) -> Millis:
        """The time of the request."""
        return self.context.now

    def values(self) -> dict[str, Any]:
        """The parameters by which a statement finds out what is known of the bearer."""
        return {
            "organisation": self.organisation_id,
            "bearer": self.id,
            "kind": self.kind,
            "origin": self.origin,
            "card": self.card,
            "since": self.now - rules.RATE_MS,
            "now": self.now,
        }


class HoldResult(Struct, frozen=True):
    """A hold, as its bearer sees it."""

    id: str
    event_id: str
    seat: Seat | None  # None for places of a zone
    zone: int
    zone_name: str
    quantity: int
    until: Millis
    days: ChosenDays
    created: bool = True  # False where the bearer held it already
    group_id: str | None = None
