"""Who wants to hold seats, and what came of it: the values that travel between HTTP and the tables."""

from __future__ import annotations

from dataclasses import dataclass, field

from shared.clock import Millis
from sync_server.plumbing.principals import Deed
from sync_server.seating.access import Bearer
from sync_server.seating.spots import Spot


@dataclass(frozen=True, slots=True)
class Asking:
    """Somebody who holds: a guest, a user or a token of one organisation."""

    organisation_id: str
    kind: str
    id: str
    origin: str  # a hash of the address
    deed: Deed
    bearer: Bearer = field(default_factory=Bearer)  # as far as zones ask
    override: bool = False  # the box office decides: rates, bounds and good manners do not count
    source: str = "web"
    notes: str | None = None

    @property
    def now(self) -> Millis:
        """When."""
        return self.deed.now


@dataclass(frozen=True, slots=True)
class Held:
    """A hold as whoever has it is told."""

    id: str
    event_id: str
    spot: Spot | None  # None: places of a zone
    zone: int
    zone_name: str
    quantity: int
    until: Millis
    made: bool = True  # False: it was there already
    party_id: str | None = None
