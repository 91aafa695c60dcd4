"""Row 10: whether the entitlement is used up, and exits without an entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from shared.reasons import Reason
from shared.tickets import Entitlement
from shared.verdicts.scene import Scene


def spent(scene: Scene, _now: int) -> Reason | None:
    """The refusal if the ticket's history has used up its entitlement; otherwise None."""
    return _RULES.get(scene.terms.entitlement, _single)(scene)


def not_inside(scene: Scene, _now: int) -> Reason | None:
    """An exit needs an entry of today, or of the day before if the cut-over came in between."""
    return None if scene.attendance.may_leave else Reason.NOT_INSIDE


def daily_limit(scene: Scene) -> int:
    """Entries per day; one if there is no number."""
    return max(scene.terms.limit, 1)


def _single(scene: Scene) -> Reason | None:
    return Reason.ALREADY_USED if scene.attendance.entries else None


def _limited(scene: Scene) -> Reason | None:
    if len(scene.attendance.today) >= daily_limit(scene):
        return Reason.DAILY_LIMIT_REACHED
    return _unlimited(scene)


def _unlimited(scene: Scene) -> Reason | None:
    return _occupying(scene) if scene.event.anti_passback else None


def _occupying(scene: Scene) -> Reason | None:
    return Reason.ALREADY_INSIDE if scene.attendance.inside_by else None


_RULES: Mapping[Entitlement, Callable[[Scene], Reason | None]] = MappingProxyType(
    {
        Entitlement.SINGLE_ENTRY: _single,
        Entitlement.LIMITED_REENTRY_PER_DAY: _limited,
        Entitlement.UNLIMITED_REENTRY: _unlimited,
        Entitlement.UNLIMITED_MULTI_DAY: _unlimited,
        Entitlement.GA_SEATED: _occupying,
        Entitlement.GA_STANDING: _occupying,
    }
)
