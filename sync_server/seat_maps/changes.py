"""What has changed on a map since a version: seats as they are now, or the reason to fetch the whole state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.api.schemas import iso_or_none
from sync_server.seat_maps import occupancy, queries
from sync_server.seat_maps.map_cache import MapSnapshot
from sync_server.seat_maps.map_inputs import MapInputs
from sync_server.seat_maps.map_json import MapVersion

MAX_SEATS: Final = 5_000
"""With more changed seats than this, the whole state is smaller."""
SKEW_MS: Final = 1_000
"""The clocks of two server processes may differ this much: holds that expired then are reported once more."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes for one reader; `reset` says why they must fetch the state again, and the plan if its name differs."""

    version: str
    seats: tuple[tuple[int, int], ...] = ()
    zones: tuple[dict[str, int], ...] = ()
    next_end: Millis | None = None
    reset: str | None = None

    @property
    def any(self) -> bool:
        """Whether anything has changed."""
        return bool(self.seats or self.zones or self.reset)

    def payload(self) -> dict[str, Any]:
        """The JSON that readers get."""
        return {
            "version": self.version,
            "reset": self.reset,
            "seats": self.seats,
            "zones": self.zones,
            "next_end": iso_or_none(self.next_end),
        }


def changes(
    session: Session, inputs: MapInputs, snapshot: MapSnapshot, since: str, now: Millis, *, organiser: bool
) -> Changes:
    """What has changed since the version `since`."""
    current = str(snapshot.version)
    if since == current:
        return Changes(since, next_end=snapshot.state.next_end)
    version = MapVersion.read(since)
    if version is None or (reset := _reset_reason(version, snapshot)):
        return Changes(current, reset="unknown_version" if version is None else reset)
    newer = version.version < snapshot.head.version
    touched = queries.touched(session, inputs.organisation_id, inputs.event_id, version.version) if newer else set()
    if touched is None:
        return Changes(current, reset="all_changed")
    touched |= snapshot.state.expired_between(version.as_of - SKEW_MS, max(now, snapshot.state.as_of))
    if version.companions != snapshot.version.companions:
        touched |= {seat for pair in snapshot.state.plan.places.pairings for seat in pair.companions}
    if len(touched) > MAX_SEATS:
        return Changes(current, reset="many_changed")
    return _changed_seats(snapshot, touched, organiser=organiser)


def _reset_reason(version: MapVersion, snapshot: MapSnapshot) -> str | None:
    if version.basis != snapshot.version.basis:
        return "house_changed"
    if version.version > snapshot.head.version:
        return "unknown_version"
    return "too_old" if version.version < snapshot.head.oldest else None


def _changed_seats(snapshot: MapSnapshot, touched: set[int], *, organiser: bool) -> Changes:
    layout, states = snapshot.state.plan.layout, snapshot.seats(organiser=organiser)
    seats = tuple((seat, states[seat - 1]) for seat in sorted(touched) if layout.has(seat))
    zones = tuple(occupancy.of_zones(snapshot.state.zones(), organiser=organiser))
    return Changes(str(snapshot.version), seats, zones, snapshot.state.next_end)
