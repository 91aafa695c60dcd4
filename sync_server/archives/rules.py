"""The states of an event's archive, and what stands in the way of putting an event away: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from shared.lifecycle import EventStatus


class State(StrEnum):
    """How far an event is put away."""

    WRITING = "writing"  # nothing has left the tables yet
    REMOVING = "removing"  # the file is complete, on disk and verified
    PUT_AWAY = "put_away"
    RESTORING = "restoring"
    RESTORED = "restored"
    DISCARDED = "discarded"  # the file too is gone; the figures stay


AT_WORK: Final = (State.WRITING.value, State.REMOVING.value, State.RESTORING.value)
"""States in which the worker has something to do."""
OVER: Final = frozenset({EventStatus.ENDED, EventStatus.CANCELLED, EventStatus.ARCHIVED})


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Something that is not settled; what is not `final` an organiser may put up with, and says why."""

    code: str
    message: str
    count: int = 1
    final: bool = False


def require_settled(obstacles: Sequence[Obstacle], *, confirmed: bool, reason: str) -> None:
    """Conflict while something stands in the way that the organiser has not confirmed, or cannot."""
    open_ones = [one for one in obstacles if one.final or not confirmed]
    if not open_ones and (not obstacles or reason):
        return
    if not open_ones:
        raise Conflict("Say in `reason` why the event is put away all the same.", code="reason_required")
    advice = (
        "" if any(one.final for one in open_ones) else " To put it away all the same, confirm it and give a reason."
    )
    raise Conflict(
        "The event is not settled yet. " + " ".join(one.message for one in open_ones) + advice,
        code="event_not_settled",
        obstacles=[one.code for one in open_ones],
    )


def over_since(status: EventStatus, end_at: Millis, cancelled_at: Millis | None) -> Millis:
    """Since when nobody comes any more."""
    return min(end_at, cancelled_at) if status is not EventStatus.ENDED and cancelled_at is not None else end_at


@dataclass(frozen=True, slots=True)
class Keeping:
    """How long one kind of record is kept: in days, from `since` on; an organisation chooses within the bounds."""

    default: int | None  # None: for ever
    least: int
    most: int | None
    what: str


KEPT: Final[Mapping[str, Keeping]] = {
    "names": Keeping(30, 1, None, "names and notes on tickets, from the event's end; the figures stay"),
    "events": Keeping(90, 1, None, "tickets and scans of an event that is settled, from its end; then its file"),
    "holds": Keeping(30, 1, None, "holds that have ended; figures of holds count those that are kept"),
    "facts": Keeping(7, 1, 7, "facts that everybody has had"),
    "mails": Keeping(60, 1, 60, "that a mail was sent, without its content"),
    "audit_values": Keeping(365, 30, None, "names and addresses in the audit log; its lines stay"),
    "audit_lines": Keeping(None, 365, None, "lines of the audit log in the database; then in sealed files"),
    "archives": Keeping(None, 365, None, "the files of events that were put away, from then on"),
}
"""By kind of record. What is not here has one rule for the whole installation: docs/retention.md."""


def kept_days(decided: Mapping[str, int | None]) -> dict[str, int | None]:
    """How many days an organisation keeps each kind of record; `decided` is what it has changed."""
    return {kind: decided.get(kind, keeping.default) for kind, keeping in KEPT.items()}


def check_days(kind: str, days: int | None) -> None:
    """InvalidRequest for a kind that there is not, or days out of bounds."""
    keeping = KEPT.get(kind)
    if keeping is None:
        raise InvalidRequest(f"There is no kind of record {kind!r}. There are: {', '.join(KEPT)}.", field=kind)
    if days is None and keeping.most is None:
        return
    if days is None or days < keeping.least or (keeping.most is not None and days > keeping.most):
        upper = "for ever at most" if keeping.most is None else f"{keeping.most} days at most"
        raise InvalidRequest(
            f"{kind}: keep them {keeping.least} days at least and {upper}.", field=kind, code="days_out_of_bounds"
        )
