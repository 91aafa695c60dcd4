"""Row 8: whether now is within the ticket's times and event days."""

from __future__ import annotations

from shared.reasons import Reason
from shared.verdicts.scene import Scene
from shared.wire.snapshot import EventDay


def out_of_time(scene: Scene, now: int) -> Reason | None:
    """Row 8, times before days: `not_before` is inclusive, `not_after` exclusive."""
    terms = scene.terms
    if now < terms.not_before * 1000:
        return Reason.NOT_VALID_YET
    if terms.not_after and now >= terms.not_after * 1000:
        return Reason.NO_LONGER_VALID
    return _out_of_days(valid_days(scene), now) if scene.event.days or terms.valid_days else None


def _out_of_days(days: tuple[EventDay, ...], now: int) -> Reason | None:
    if any(day.start <= now < day.until for day in days):
        return None
    if days and now < days[0].start:
        return Reason.NOT_VALID_YET
    if days and now >= days[-1].until:
        return Reason.NO_LONGER_VALID
    return Reason.NOT_VALID_TODAY


def valid_days(scene: Scene) -> tuple[EventDay, ...]:
    """The event days of the ticket; all if it names none."""
    days, named = scene.event.days, scene.terms.valid_days
    if not named:
        return days
    return tuple(day for nth, day in enumerate(days) if named >> nth & 1)


def validity_limits(scene: Scene) -> tuple[int, ...]:
    """All moments at which the result may change."""
    terms = scene.terms
    edges = [edge for day in valid_days(scene) for edge in (day.start, day.until)]
    return (terms.not_before * 1000, terms.not_after * 1000, *edges)
