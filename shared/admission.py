"""The ordered rules of admission: decide(attempt) -> Verdict, run by both gate and server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from shared.attempts import Attempt, Direction, Mode, Override, Passage, Readiness, Room, Verdict
from shared.lifecycle import rehearsing, scanning, scanning_limits
from shared.reasons import Reason
from shared.tickets import ReadTicket, Refusal
from shared.verdicts.capacity import full
from shared.verdicts.entitlements import not_inside, spent
from shared.verdicts.notices import of_entry, of_exit
from shared.verdicts.scene import Scene, set_scene, type_of, zone_of
from shared.verdicts.sentences import words_of_admission, words_of_barred, words_of_denial, words_of_override
from shared.verdicts.standing import unpermitted_gate, unsound_ticket, without_membership
from shared.verdicts.validity import out_of_time, validity_limits
from shared.wire.snapshot import EventRow, WhenUncertain

__all__ = [
    "ENTRY_ROWS",
    "EXIT_ROWS",
    "GROUND_ROWS",
    "Attempt",
    "Direction",
    "Mode",
    "Override",
    "Passage",
    "Readiness",
    "Room",
    "Verdict",
    "decide",
    "type_of",
    "zone_of",
]


def decide(attempt: Attempt) -> Verdict:
    """The verdict on an attempt: the first failing check wins. Pure, and defined for every attempt."""
    for ground in GROUND_ROWS:
        barred = ground.finds(attempt)
        if barred is not None:
            return Verdict(barred, words_of_barred(barred, attempt))
    # Rows 1 to 4 have established that there is an event and a trusted code.
    return _judge(set_scene(attempt, cast(EventRow, attempt.event), cast(ReadTicket, attempt.code)))


def _judge(scene: Scene) -> Verdict:
    hinged = False
    for row in EXIT_ROWS if scene.is_exit else ENTRY_ROWS:
        found, hinges = _weigh(row, scene)
        hinged = hinged or hinges
        if found is not None:
            return _refuse(scene, found, row.number, hinged)
    return _admit(scene, hinged)


def _admit(scene: Scene, hinged: bool) -> Verdict:
    reason = _kind_of_admission(scene)
    return Verdict(reason, words_of_admission(reason, scene), _notices(scene, 12, hinged))


def _kind_of_admission(scene: Scene) -> Reason:
    if scene.attempt.mode == Mode.TEST:
        return Reason.TEST_OK
    if scene.is_exit:
        return Reason.EXITED
    return Reason.ADMITTED_REENTRY if scene.attendance.ever else Reason.ADMITTED


def _refuse(scene: Scene, reason: Reason, number: int, hinged: bool) -> Verdict:
    notices = _notices(scene, number, hinged)
    override = scene.attempt.override
    if override is None or scene.attempt.mode == Mode.TEST:
        return Verdict(reason, words_of_denial(reason, scene), notices)
    turned = Reason.EXITED if scene.is_exit else Reason.ADMITTED_OVERRIDE
    return Verdict(turned, words_of_override(reason, override, scene), (*notices, "override"), reason)


def _notices(scene: Scene, number: int, hinged: bool) -> tuple[str, ...]:
    found = of_exit(scene) if scene.is_exit else of_entry(scene, number)
    return (*found, "clock_uncertain") if hinged else found


def _weigh(row: Row, scene: Scene) -> tuple[Reason | None, bool]:
    """The result of a row, and whether it depends on a time limit that the uncertain clock cannot resolve."""
    now, doubt = scene.attempt.now, scene.attempt.uncertainty
    nominal = row.finds(scene, now)
    if doubt <= 0 or row.limits is None:
        return nominal, False
    crossed = [limit for limit in row.limits(scene) if now - doubt < limit <= now + doubt]
    if not crossed:
        return nominal, False
    # The result is constant between two limits, so it is enough to try these moments.
    return _settle(scene, nominal, [row.finds(scene, moment) for moment in (now - doubt, *sorted(crossed))])


def _settle(scene: Scene, nominal: Reason | None, answers: list[Reason | None]) -> tuple[Reason | None, bool]:
    denials = [answer for answer in answers if answer is not None]
    if not denials or len(denials) == len(answers):
        return nominal, False
    if scene.attempt.policy.clock_uncertain == WhenUncertain.ADMIT:
        return None, True
    return nominal or denials[0], True


# --- The admission table, in order ---


@dataclass(frozen=True, slots=True)
class Ground:
    """Rows 0 to 4: they cannot be overridden, and apply to exits too."""

    number: int
    reasons: tuple[Reason, ...]
    finds: Callable[[Attempt], Reason | None]


@dataclass(frozen=True, slots=True)
class Row:
    """Rows 5 to 11, checked once the code is trusted. `limits`: the moments at which a row's result may change."""

    number: int
    reasons: tuple[Reason, ...]
    finds: Callable[[Scene, int], Reason | None]
    limits: Callable[[Scene], tuple[int, ...]] | None = None


def _unready(attempt: Attempt) -> Reason | None:
    if not attempt.readiness.ready:
        return Reason.GATE_NOT_READY
    return None if attempt.readiness.can_record else Reason.CANNOT_RECORD


def _unbelieved(attempt: Attempt) -> Reason | None:
    return attempt.code.reason if isinstance(attempt.code, Refusal) else None


def _elsewhere(attempt: Attempt) -> Reason | None:
    code, event = attempt.code, attempt.event
    if isinstance(code, Refusal):
        return None
    if code.organisation != attempt.organisation:
        return Reason.WRONG_ORGANISATION
    return Reason.WRONG_EVENT if event is None or event.number != code.ticket.event_number else None


def _event_closed(scene: Scene, now: int) -> Reason | None:
    if scene.attempt.mode == Mode.TEST:
        return rehearsing(scene.event, now)
    found = scanning(scene.event, now)
    return None if found is not None and scene.attempt.doors_opened and _doors_may_open(found, scene, now) else found


def _doors_may_open(found: Reason, scene: Scene, now: int) -> bool:
    # Opening the doors only brings forward a planned start, or the start on the new date itself; it revives nothing.
    if found is Reason.EVENT_NOT_LIVE:
        return True
    moved = scene.event.rescheduled_at
    if found is not Reason.EVENT_POSTPONED or moved is None:
        return False
    return any(day.start <= now < day.until and day.start <= moved < day.until for day in scene.event.days)


GROUND_ROWS = (
    Ground(0, (Reason.GATE_NOT_READY, Reason.CANNOT_RECORD), _unready),
    Ground(
        # Rows 1 to 3 are checked in order by shared.tickets.read.
        1,
        (
            Reason.UNREADABLE,
            Reason.UNSUPPORTED_VERSION,
            Reason.UNKNOWN_KEY,
            Reason.BAD_SIGNATURE,
            Reason.STALE_PROOF,
        ),
        _unbelieved,
    ),
    Ground(4, (Reason.WRONG_ORGANISATION, Reason.WRONG_EVENT), _elsewhere),
)

ENTRY_ROWS = (
    Row(
        5,
        (Reason.EVENT_NOT_LIVE, Reason.EVENT_CANCELLED, Reason.EVENT_POSTPONED, Reason.EVENT_ENDED),
        _event_closed,
        lambda scene: scanning_limits(scene.event),
    ),
    Row(6, (Reason.GATE_CLOSED, Reason.WRONG_GATE), unpermitted_gate),
    Row(
        7,
        (
            Reason.TICKET_REPLACED,
            Reason.TICKET_CANCELLED,
            Reason.TICKET_BLOCKED,
            Reason.TICKET_UNPAID,
            Reason.NOT_IN_SNAPSHOT,
        ),
        unsound_ticket,
    ),
    Row(8, (Reason.NOT_VALID_YET, Reason.NO_LONGER_VALID, Reason.NOT_VALID_TODAY), out_of_time, validity_limits),
    Row(9, (Reason.MEMBERSHIP_EXPIRED,), without_membership),
    Row(10, (Reason.ALREADY_USED, Reason.DAILY_LIMIT_REACHED, Reason.ALREADY_INSIDE), spent),
    Row(11, (Reason.ZONE_FULL, Reason.GATE_FULL), full),
)

EXIT_ROWS = (Row(10, (Reason.NOT_INSIDE,), not_inside),)
