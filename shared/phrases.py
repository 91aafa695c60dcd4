"""The two sentences that staff read for each denial of rows 5 to 11: what happened, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from shared.ago import ago
from shared.attempts import Passage
from shared.entitlements import daily_limit
from shared.reasons import Reason
from shared.scene import Scene
from shared.standing import asked_tier, right_gate
from shared.tickets import TicketFlags
from shared.validity import valid_days

Phrases = tuple[str, str]
"""What happened, and what to do about it."""

_KEEP_OUT = "Do not admit."
_BOX_OFFICE = "Send the guest to the box office."


def phrases(reason: Reason, scene: Scene) -> Phrases:
    """The two sentences for a denial."""
    return _OF[reason](scene)


# --- The event and its gates ---


def _when(scene: Scene, moment: int) -> str:
    return scene.attempt.local_time(moment, scene.attempt.now)


def _event_not_live(scene: Scene) -> Phrases:
    opens = scene.event.go_live_at
    when = "" if opens is None or opens <= scene.attempt.now else f"; they open {_when(scene, opens)}"
    return f"The doors are not open yet{when}.", "Ask the guest to wait; a supervisor can open the doors."


def _event_postponed(scene: Scene) -> Phrases:
    moved = scene.event.rescheduled_at
    when = "has no new date yet" if moved is None else f"begins {_when(scene, moved)}"
    return f"The event is postponed and {when}.", "Do not admit now; the ticket remains valid for the new date."


def _gate_closed(scene: Scene) -> Phrases:
    return f"Gate {_here(scene)} is closed.", _send_on(scene)


def _wrong_gate(scene: Scene) -> Phrases:
    if scene.attempt.gate is None:
        return "This device has no gate at this event.", _send_on(scene)
    zone = f"zone {scene.attempt.zone.name}" if scene.attempt.zone else "this ticket's zone"
    return f"Gate {_here(scene)} does not serve {zone}.", _send_on(scene)


def _here(scene: Scene) -> str:
    return scene.attempt.gate.code if scene.attempt.gate else "?"


def _zone(scene: Scene) -> str:
    return f"Zone {scene.attempt.zone.name}" if scene.attempt.zone else "This ticket's zone"


def _send_on(scene: Scene) -> str:
    gate = right_gate(scene)
    if gate is None:
        return "Ask a supervisor where to send the guest."
    if not scene.terms.flags & TicketFlags.WHEELCHAIR:
        return f"Send the guest to gate {gate.code}."
    access = ", step-free" if gate.step_free else "; it is not step-free, so offer help"
    return f"Send the guest to gate {gate.code}{access}."


# --- The ticket ---


def _not_valid_yet(scene: Scene) -> Phrases:
    first = scene.terms.not_before * 1000
    if first <= scene.attempt.now:
        first = min((day.start for day in valid_days(scene)), default=first)
    return f"This ticket is valid from {_moment(scene, first)}.", "Ask the guest to come back then."


def _no_longer_valid(scene: Scene) -> Phrases:
    last = scene.terms.not_after * 1000
    if not last or last > scene.attempt.now:
        last = max((day.until for day in valid_days(scene)), default=last)
    return f"This ticket was valid until {_moment(scene, last)}.", _KEEP_OUT


def _moment(scene: Scene, moment: int) -> str:
    return _when(scene, moment).removeprefix("at ").removeprefix("on ")


def _not_valid_today(scene: Scene) -> Phrases:
    coming = [day.date for day in valid_days(scene) if day.start > scene.attempt.now]
    return f"This ticket is not valid today{f', only on {coming[0]}' if coming else ''}.", _KEEP_OUT


def _membership_expired(scene: Scene) -> Phrases:
    tier, row = asked_tier(scene), scene.attempt.row
    if row is not None and scene.known and row.membership_tier == tier:
        return f"This ticket's {tier} membership has expired or was revoked.", _BOX_OFFICE
    return f"{_zone(scene)} is for members ({tier}), and this ticket has no such membership.", _BOX_OFFICE


# --- The entitlement, and room ---


def _already_used(scene: Scene) -> Phrases:
    return f"Used {_trace(scene, scene.attendance.entries[-1])}.", _KEEP_OUT


def _daily_limit_reached(scene: Scene) -> Phrases:
    today, limit = scene.attendance.today, daily_limit(scene)
    entries = "entry" if limit == 1 else "entries"
    last = _trace(scene, today[-1])
    return f"Used {len(today)} of {limit} {entries} today, last {last}.", "Do not admit again today."


def _already_inside(scene: Scene) -> Phrases:
    came = scene.attendance.inside_by
    trace = f" {_trace(scene, came)}," if came else ""
    return f"Entered{trace} and has not left.", "Do not admit; if the exit was not scanned, ask a supervisor."


def _not_inside(scene: Scene) -> Phrases:
    latest = scene.attendance.latest
    known = f"it was last scanned {_trace(scene, latest)}" if latest else "it has no entry"
    return f"This ticket is not inside: {known}.", "Let the guest out by hand, or ask a supervisor to record the exit."


def _trace(scene: Scene, passage: Passage) -> str:
    known = (*scene.attempt.gates, *((scene.attempt.gate,) if scene.attempt.gate else ()))
    gate = next((f"gate {gate.code}" for gate in known if gate.number == passage.gate), "another gate")
    return f"{_when(scene, passage.at)} at {gate}, {ago(scene.attempt.now - passage.at)}"


def _zone_full(scene: Scene) -> Phrases:
    return f"{_zone(scene)} is full.", "Ask the guest to wait until someone leaves."


def _gate_full(scene: Scene) -> Phrases:
    return f"Gate {_here(scene)} has reached its capacity.", _send_on(scene)


def _always(*sentences: str) -> Callable[[Scene], Phrases]:
    happened, to_do = sentences
    return lambda _: (happened, to_do)


_OF: Mapping[Reason, Callable[[Scene], Phrases]] = MappingProxyType(
    {
        Reason.EVENT_NOT_LIVE: _event_not_live,
        Reason.EVENT_CANCELLED: _always("The event is cancelled.", "Do not admit; refunds come from the organiser."),
        Reason.EVENT_POSTPONED: _event_postponed,
        Reason.EVENT_ENDED: _always(
            "The event has ended.", "Do not admit; a guest who left something behind can ask a supervisor."
        ),
        Reason.GATE_CLOSED: _gate_closed,
        Reason.WRONG_GATE: _wrong_gate,
        Reason.TICKET_REPLACED: _always(
            "This code was replaced by a newer one.",
            "Ask for the latest ticket; it may now belong to somebody else.",
        ),
        Reason.TICKET_CANCELLED: _always("This ticket was cancelled.", f"{_KEEP_OUT} {_BOX_OFFICE}"),
        Reason.TICKET_BLOCKED: _always("This ticket is blocked.", f"{_KEEP_OUT} Call a supervisor."),
        Reason.TICKET_UNPAID: _always("This ticket has not been paid for.", _BOX_OFFICE),
        Reason.NOT_IN_SNAPSHOT: _always(
            "This gate does not know this ticket and must not accept unknown tickets.",
            "Sync this gate and scan again; if that does not help, send the guest to the box office.",
        ),
        Reason.NOT_VALID_YET: _not_valid_yet,
        Reason.NO_LONGER_VALID: _no_longer_valid,
        Reason.NOT_VALID_TODAY: _not_valid_today,
        Reason.MEMBERSHIP_EXPIRED: _membership_expired,
        Reason.ALREADY_USED: _already_used,
        Reason.DAILY_LIMIT_REACHED: _daily_limit_reached,
        Reason.ALREADY_INSIDE: _already_inside,
        Reason.NOT_INSIDE: _not_inside,
        Reason.ZONE_FULL: _zone_full,
        Reason.GATE_FULL: _gate_full,
    }
)
