"""How full an event is: what there is to know, and who sees which number. The field names are those of /occupancy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from shared.clock import Millis
from sync_server.seating.live_seats import ZoneOccupancy

WHOLE_EVENT: Final = 0
"""The zone of an event without a layout."""


@dataclass(frozen=True, slots=True)
class EventOccupancy:
    """How full an event is at one moment. It may sell less than its zones hold."""

    as_of: Millis  # of the latest change, or end of a hold, that is included
    total: int  # 0: no limit
    zones: tuple[ZoneOccupancy, ...]
    next_end: Millis | None  # when the next hold runs out
    most: int | None = None  # taken on the fullest of several days, where the event sells less than its zones hold

    @property
    def held(self) -> int:
        """Seats and places that are held and whose holds have not run out."""
        return sum(zone.held for zone in self.zones)

    @property
    def sold(self) -> int:
        """Seats and places with a ticket."""
        return sum(zone.sold for zone in self.zones)

    @property
    def available(self) -> int:
        """What can be held now: no more than the zones have left, and than the event may sell."""
        zones = sum(zone.available for zone in self.zones)
        taken = self.held + self.sold if self.most is None else self.most
        return min(zones, max(0, self.total - taken))


def shown(occupancy: ZoneOccupancy | EventOccupancy, *, organiser: bool) -> dict[str, int]:
    """The counts that somebody may see: only organisers can tell held from sold."""
    counts = {
        "total": occupancy.total if isinstance(occupancy, EventOccupancy) else occupancy.capacity,
        "available": occupancy.available,
        "held": occupancy.held,
        "sold": occupancy.sold,
    }
    return counts if organiser else public(counts)


def public(counts: Mapping[str, Any]) -> dict[str, int]:
    """What everybody may see of an organiser's counts."""
    return {
        "total": counts["total"],
        "available": counts["available"],
        "taken": counts["held"] + counts["sold"],
    }


def with_percents(counts: Mapping[str, int]) -> dict[str, Any]:
    """Counts, and their percentages of the total, which are null where there is none."""
    total, numbers = counts["total"], {name: count for name, count in counts.items() if name != "total"}
    percents = {f"percent_{name}": round(100 * count / total, 1) if total else None for name, count in numbers.items()}
    return {**counts, **percents}


def of_zones(zones: Iterable[ZoneOccupancy], *, organiser: bool) -> list[dict[str, int]]:
    """The zones of a map, for organisers or for everybody."""
    return [{"zone": zone.number, **shown(zone, organiser=organiser)} for zone in zones]
