"""The words for staff behind every answer: what happened, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from shared.attempts import Attempt, Override, Passage
from shared.entitlements import daily_limit
from shared.reasons import Reason
from shared.scene import Scene
from shared.standing import asked_tier, right_gate
from shared.tickets import Refusal, TicketFlags
from shared.validity import valid_days


def words(reason: Reason, scene: Scene) -> str:
    """One or two sentences for the person at the gate."""
    return _OF_SCENE[reason](scene)


def words_of_barred(reason: Reason, attempt: Attempt) -> str:
    """The same for rows 0 to 4, where nothing is known of the ticket yet."""
    return _OF_ATTEMPT[reason](attempt)


def words_of_override(turned: Reason, denied: Reason, override: Override, scene: Scene) -> str:
    """What the supervisor decided, why, and what stood against it."""
    act = "Count out" if turned is Reason.EXITED else "Let in"
    why = f": {override.reason.rstrip('.')}" if override.reason else ""
    return f"{act} by a supervisor{why}. Refused was: {words(denied, scene)}"


# --- Rows 0 to 4 ---


def _not_ready(attempt: Attempt) -> str:
    why = attempt.readiness.why or "This device is not ready"
    return f"{why.rstrip('.')}. Nobody can be let in here; call the operator."


def _unknown_key(attempt: Attempt) -> str:
    if isinstance(attempt.code, Refusal) and attempt.code.key_revoked:
        return (
            "Signed with a key that was withdrawn: not good any more. Do not let in; send the guest to the box office."
        )
    return (
        "Not one of ours, or newer than this gate's last sync. "
        "Sync this gate and scan again; if it stays, send the guest to the box office."
    )


def _wrong_organisation(attempt: Attempt) -> str:
    return f"A ticket of another organiser{_other(attempt)}. Send the guest to that organiser's entrance."


def _wrong_event(attempt: Attempt) -> str:
    return f"A ticket for another event{_other(attempt)}. Do not let in; the guest may ask at the box office."


def _other(attempt: Attempt) -> str:
    return f": {attempt.other_event.rstrip('.')}" if attempt.other_event else ""


def _always(text: str) -> Callable[[object], str]:
    return lambda _: text


_OF_ATTEMPT: Mapping[Reason, Callable[[Attempt], str]] = MappingProxyType(
    {
        Reason.GATE_NOT_READY: _not_ready,
        Reason.CANNOT_RECORD: _always(
            "This gate cannot write its journal, so it may let nobody in. "
            "Send guests to another gate and call the operator."
        ),
        Reason.UNREADABLE: _always(
            "This is no ticket code of ours. "
            "Ask for the ticket itself, or look it up by its number or confirmation code."
        ),
        Reason.UNSUPPORTED_VERSION: _always(
            "This ticket is newer than this gate's program. Send the guest to the box office and have the gate updated."
        ),
        Reason.UNKNOWN_KEY: _unknown_key,
        Reason.BAD_SIGNATURE: _always("This code was altered and is not genuine. Do not let in; call a supervisor."),
        Reason.STALE_PROOF: _always(
            "This live code is too old: a picture of it, perhaps. "
            "Ask the guest to open the ticket on the phone and show that."
        ),
        Reason.WRONG_ORGANISATION: _wrong_organisation,
        Reason.WRONG_EVENT: _wrong_event,
    }
)


# --- The event and its gates ---


def _when(scene: Scene, moment: int) -> str:
    return scene.attempt.local_time(moment, scene.attempt.now)


def _event_not_live(scene: Scene) -> str:
    opens = scene.event.go_live_at
    planned = opens is not None and opens > scene.attempt.now
    when = f" They open {_when(scene, opens)}." if opens is not None and planned else ""
    return f"The doors are not open yet.{when} Ask the guest to wait; a supervisor can open the doors."


def _event_postponed(scene: Scene) -> str:
    moved = scene.event.rescheduled_at
    if moved is None:
        return "The event is postponed and has no new date yet. Do not let in; the ticket stays good for the new date."
    return f"The event is postponed; it begins {_when(scene, moved)}. Do not let in now; the ticket stays good."


def _gate_closed(scene: Scene) -> str:
    return f"Gate {_here(scene)} is closed. {_send_on(scene)}"


def _wrong_gate(scene: Scene) -> str:
    if scene.attempt.gate is None:
        return f"This device has no gate at this event. {_send_on(scene)}"
    zone = scene.attempt.zone
    return f"Gate {_here(scene)} does not serve {f'zone {zone.name}' if zone else 'this zone'}. {_send_on(scene)}"


def _here(scene: Scene) -> str:
    return scene.attempt.gate.code if scene.attempt.gate else "?"


def _send_on(scene: Scene) -> str:
    gate = right_gate(scene)
    if gate is None:
        return "Ask a supervisor where to send the guest."
    if not scene.terms.flags & TicketFlags.WHEELCHAIR:
        return f"Send the guest to gate {gate.code}."
    return f"Send the guest to gate {gate.code}" + (
        ", step-free." if gate.step_free else "; it is not step-free, so help."
    )


# --- The ticket ---


def _not_valid_yet(scene: Scene) -> str:
    return f"This ticket is valid from{_said(scene, _begins(scene))}. Ask the guest to come back then."


def _begins(scene: Scene) -> int | None:
    first = scene.terms.not_before * 1000
    if first > scene.attempt.now:
        return first
    return min((day.start for day in valid_days(scene)), default=None)


def _no_longer_valid(scene: Scene) -> str:
    last = scene.terms.not_after * 1000
    if not last or last > scene.attempt.now:
        last = max((day.until for day in valid_days(scene)), default=0)
    return f"This ticket was valid until{_said(scene, last or None)}. Do not let in."


def _said(scene: Scene, moment: int | None) -> str:
    if moment is None:
        return " another time"
    return " " + _when(scene, moment).removeprefix("at ").removeprefix("on ")


def _not_valid_today(scene: Scene) -> str:
    coming = [day.date for day in valid_days(scene) if day.start > scene.attempt.now]
    again = f" It is valid again on {coming[0]}." if coming else ""
    return f"This ticket is not valid today.{again} Do not let in."


def _membership_expired(scene: Scene) -> str:
    zone = scene.attempt.zone
    return (
        f"Zone {zone.name if zone else ''} is for members ({asked_tier(scene)}), "
        "and this ticket has no such membership, or it is over. Send the guest to the box office."
    )


# --- The entitlement ---


def _already_used(scene: Scene) -> str:
    return f"Used {_trace(scene, scene.attendance.entries[-1])}. Do not let in."


def _daily_limit_reached(scene: Scene) -> str:
    today, limit = scene.attendance.today, daily_limit(scene)
    entries = "entry" if limit == 1 else "entries"
    return f"Used {len(today)} of {limit} {entries} today, last {_trace(scene, today[-1])}. Do not let in again today."


def _already_inside(scene: Scene) -> str:
    came = scene.attendance.inside_by
    where = f"Came in {_trace(scene, came)} and has not left" if came else "Has not left"
    return f"{where}. Do not let in; if the exit was not scanned, a supervisor decides."


def _not_inside(scene: Scene) -> str:
    left = scene.attendance.latest
    known = f"Last scanned {_trace(scene, left)}." if left else "No entry of this ticket is known."
    return f"This ticket is not inside. {known} Let the guest out and count by hand, or ask a supervisor."


def _trace(scene: Scene, passage: Passage) -> str:
    codes = [gate.code for gate in scene.attempt.gates if gate.number == passage.gate]
    here = scene.attempt.gate
    if not codes and here is not None and here.number == passage.gate:
        codes = [here.code]
    return f"{_when(scene, passage.at)} at {f'gate {codes[0]}' if codes else 'another gate'}"


def _zone_full(scene: Scene) -> str:
    zone = scene.attempt.zone
    return f"Zone {zone.name if zone else ''} is full. Ask the guest to wait until somebody leaves."


def _gate_full(scene: Scene) -> str:
    return f"Gate {_here(scene)} has reached its capacity. {_send_on(scene)}"


def _reentry(scene: Scene) -> str:
    return f"Let in again: entry {len(scene.attendance.entries) + 1}."


def _test_ok(scene: Scene) -> str:
    return f"TEST: this ticket would be {'counted out' if scene.is_exit else 'let in'}. Nothing is counted."


_OF_SCENE: Mapping[Reason, Callable[[Scene], str]] = MappingProxyType(
    {
        Reason.EVENT_NOT_LIVE: _event_not_live,
        Reason.EVENT_CANCELLED: _always("The event is cancelled. Do not let in; refunds come from the organiser."),
        Reason.EVENT_POSTPONED: _event_postponed,
        Reason.EVENT_ENDED: _always("The event is over. Do not let in; a supervisor decides on anything left inside."),
        Reason.GATE_CLOSED: _gate_closed,
        Reason.WRONG_GATE: _wrong_gate,
        Reason.TICKET_REPLACED: _always(
            "This code was replaced by a newer one. Ask for the newest ticket; it may belong to somebody else now."
        ),
        Reason.TICKET_CANCELLED: _always("This ticket was cancelled. Do not let in; send the guest to the box office."),
        Reason.TICKET_BLOCKED: _always("This ticket is blocked. Do not let in; call a supervisor."),
        Reason.TICKET_UNPAID: _always("This ticket is not paid. Send the guest to the box office."),
        Reason.NOT_IN_SNAPSHOT: _always(
            "This gate does not know this ticket and may not take it on trust. "
            "Sync this gate and scan again; if it stays, send the guest to the box office."
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
        Reason.ADMITTED: _always("Let in."),
        Reason.ADMITTED_REENTRY: _reentry,
        Reason.EXITED: _always("Let out."),
        Reason.TEST_OK: _test_ok,
    }
)
