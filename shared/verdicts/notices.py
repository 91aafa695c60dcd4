"""Notices that staff must see with a verdict."""

from __future__ import annotations

from shared.tickets import TicketFlags
from shared.verdicts.capacity import is_estimated
from shared.verdicts.scene import Scene
from shared.verdicts.standing import asked_tier, is_member

_FLAGS = (
    (TicketFlags.WHEELCHAIR, "wheelchair"),
    (TicketFlags.COMPANION_RESERVED, "companion_reserved"),
    (TicketFlags.COMPANION, "companion"),
    (TicketFlags.VIP, "vip"),
)
_SHOWN = TicketFlags.WHEELCHAIR | TicketFlags.COMPANION_RESERVED | TicketFlags.COMPANION | TicketFlags.VIP


def of_exit(scene: Scene) -> tuple[str, ...]:
    """Notices for an exit: guests who leave are not checked."""
    return _of_flags(scene)


def of_entry(scene: Scene, number: int) -> tuple[str, ...]:
    """Notices from all rows of the table up to this one; 12 is an admission."""
    unverified = number > 9 and not scene.known and asked_tier(scene) is not None
    notices = (
        *_of_flags(scene),
        *_of_membership(scene),
        *_of_type(scene),
        "not_yet_synced" if number > 7 and not scene.known else "",
        "membership_unverified" if unverified else "",
        "capacity_estimated" if number > 10 and is_estimated(scene) else "",
    )
    return tuple(notice for notice in notices if notice)


def _of_flags(scene: Scene) -> tuple[str, ...]:
    flags = scene.terms.flags
    if not flags or not flags & _SHOWN:
        return ()
    return tuple(word for flag, word in _FLAGS if flags & flag)


def _of_membership(scene: Scene) -> tuple[str, ...]:
    row = scene.attempt.row
    if row is None or not scene.known or not row.membership_tier or not is_member(row, scene.attempt.now):
        return ()
    return (f"membership:{row.membership_tier}",)


def _of_type(scene: Scene) -> tuple[str, ...]:
    kind = scene.attempt.ticket_type
    return (f"check:{kind.check}",) if kind is not None and kind.check else ()
