"""Row 11: has live occupancy reached a capacity."""

from __future__ import annotations

from shared.attempts import Room
from shared.reasons import Reason
from shared.scene import Scene

COUNTED_ZONES = frozenset({"ga_seated", "ga_standing", "vip_standing"})
"""Zones whose places are nobody's own; a reserved seat is its own capacity."""


def full(scene: Scene, _now: int) -> Reason | None:
    """The zone before the gate."""
    if _is_full(zone_room(scene)):
        return Reason.ZONE_FULL
    return Reason.GATE_FULL if _is_full(gate_room(scene)) else None


def zone_room(scene: Scene) -> Room | None:
    """How full the ticket's zone is, where that is counted."""
    zone = scene.attempt.zone
    if zone is None or zone.capacity is None or zone.kind not in COUNTED_ZONES:
        return None
    return scene.attempt.zone_room


def gate_room(scene: Scene) -> Room | None:
    """How many are in by this gate, where it has a capacity."""
    gate = scene.attempt.gate
    return None if gate is None or gate.capacity is None else scene.attempt.gate_room


def is_estimated(scene: Scene) -> bool:
    """Whether a count that mattered was this device's share, because it hears nobody."""
    return any(room is not None and room.estimated for room in (zone_room(scene), gate_room(scene)))


def _is_full(room: Room | None) -> bool:
    return room is not None and room.inside >= room.limit
