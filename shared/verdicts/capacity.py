"""Row 11: whether the occupancy has reached a capacity."""

from __future__ import annotations

from shared.attempts import Room
from shared.reasons import Reason
from shared.verdicts.scene import Scene

COUNTED_ZONES = frozenset({"ga_seated", "ga_standing", "vip_standing"})
"""Zones without reserved seats; a reserved seat needs no capacity check."""


def full(scene: Scene, _now: int) -> Reason | None:
    """The refusal if a capacity is reached, the zone's before the gate's; otherwise None."""
    if _is_full(zone_room(scene)):
        return Reason.ZONE_FULL
    return Reason.GATE_FULL if _is_full(gate_room(scene)) else None


def zone_room(scene: Scene) -> Room | None:
    """How full the ticket's zone is, if it is counted."""
    zone = scene.attempt.zone
    if zone is None or zone.capacity is None or zone.kind not in COUNTED_ZONES:
        return None
    return scene.attempt.zone_room


def gate_room(scene: Scene) -> Room | None:
    """How many are inside through this gate, if it has a capacity."""
    gate = scene.attempt.gate
    return None if gate is None or gate.capacity is None else scene.attempt.gate_room


def is_estimated(scene: Scene) -> bool:
    """Whether a count that mattered was only this device's share, because it is offline."""
    return any(room is not None and room.estimated for room in (zone_room(scene), gate_room(scene)))


def _is_full(room: Room | None) -> bool:
    return room is not None and room.inside >= room.limit
