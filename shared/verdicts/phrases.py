"""The two sentences that staff read for each denial of rows 5 to 11: what happened, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from shared.attempts import Passage
from shared.reasons import Reason
from shared.tickets import TicketFlags
from shared.verdicts.entitlements import daily_limit
from shared.verdicts.scene import Scene
from shared.verdicts.standing import asked_tier, right_gate
from shared.verdicts.validity import valid_days
from shared.words.ago import ago
from shared.words.local_moments import without_preposition
from shared.words.messages import say

Phrases = tuple[str, str]
"""What happened, and what to do about it."""


def phrases(reason: Reason, scene: Scene) -> Phrases:
    """The two sentences for a denial."""
    return _OF[reason](scene)


# --- The event and its gates ---


def _when(scene: Scene, moment: int) -> str:
    return scene.attempt.local_time(moment, scene.attempt.now)


def _event_not_live(scene: Scene) -> Phrases:
    opens = scene.event.go_live_at
    if opens is None or opens <= scene.attempt.now:
        return say("denied.event_not_live"), say("do.wait_for_doors")
    return say("denied.event_not_live_until", when=_when(scene, opens)), say("do.wait_for_doors")


def _event_postponed(scene: Scene) -> Phrases:
    moved = scene.event.rescheduled_at
    if moved is None:
        return say("denied.event_postponed"), say("do.postponed")
    return say("denied.event_postponed_to", when=_when(scene, moved)), say("do.postponed")


def _gate_closed(scene: Scene) -> Phrases:
    return say("denied.gate_closed", gate=_here(scene)), _send_on(scene)


def _wrong_gate(scene: Scene) -> Phrases:
    if scene.attempt.gate is None:
        return say("denied.no_gate"), _send_on(scene)
    zone = scene.attempt.zone
    named = say("part.zone", name=zone.name) if zone else say("part.zone_of_ticket")
    return say("denied.wrong_gate", gate=_here(scene), zone=named), _send_on(scene)


def _here(scene: Scene) -> str:
    return scene.attempt.gate.code if scene.attempt.gate else "?"


def _zone(scene: Scene) -> str:
    zone = scene.attempt.zone
    return say("part.the_zone", name=zone.name) if zone else say("part.the_zone_of_ticket")


def _send_on(scene: Scene) -> str:
    gate = right_gate(scene)
    if gate is None:
        return say("do.ask_where")
    if not scene.terms.flags & TicketFlags.WHEELCHAIR:
        return say("do.gate", gate=gate.code)
    return say("do.gate_step_free" if gate.step_free else "do.gate_with_steps", gate=gate.code)


# --- The ticket ---


def _not_valid_yet(scene: Scene) -> Phrases:
    first = scene.terms.not_before * 1000
    if first <= scene.attempt.now:
        first = min((day.start for day in valid_days(scene)), default=first)
    return say("denied.not_valid_yet", when=_moment(scene, first)), say("do.come_back")


def _no_longer_valid(scene: Scene) -> Phrases:
    last = scene.terms.not_after * 1000
    if not last or last > scene.attempt.now:
        last = max((day.until for day in valid_days(scene)), default=last)
    return say("denied.no_longer_valid", when=_moment(scene, last)), say("do.keep_out")


def _moment(scene: Scene, moment: int) -> str:
    return without_preposition(_when(scene, moment))


def _not_valid_today(scene: Scene) -> Phrases:
    coming = [day.date for day in valid_days(scene) if day.start > scene.attempt.now]
    if not coming:
        return say("denied.not_valid_today"), say("do.keep_out")
    return say("denied.not_valid_today_but", date=coming[0]), say("do.keep_out")


def _membership_expired(scene: Scene) -> Phrases:
    tier, row = asked_tier(scene), scene.attempt.row
    if row is not None and scene.known and row.membership_tier == tier:
        return say("denied.membership_over", tier=tier), say("do.box_office")
    return say("denied.membership_missing", zone=_zone(scene), tier=tier), say("do.box_office")


# --- The entitlement, and room ---


def _already_used(scene: Scene) -> Phrases:
    return say("denied.already_used", trace=_trace(scene, scene.attendance.entries[-1])), say("do.keep_out")


def _daily_limit_reached(scene: Scene) -> Phrases:
    today, limit = scene.attendance.today, daily_limit(scene)
    used = say("denied.daily_limit_reached", used=len(today), n=limit, trace=_trace(scene, today[-1]))
    return used, say("do.not_again_today")


def _already_inside(scene: Scene) -> Phrases:
    came = scene.attendance.inside_by
    if came is None:
        return say("denied.already_inside_somewhere"), say("do.exit_not_scanned")
    return say("denied.already_inside", trace=_trace(scene, came)), say("do.exit_not_scanned")


def _not_inside(scene: Scene) -> Phrases:
    latest = scene.attendance.latest
    if latest is None:
        return say("denied.not_inside"), say("do.let_out")
    return say("denied.not_inside_since", trace=_trace(scene, latest)), say("do.let_out")


def _trace(scene: Scene, passage: Passage) -> str:
    known = (*scene.attempt.gates, *((scene.attempt.gate,) if scene.attempt.gate else ()))
    code = next((gate.code for gate in known if gate.number == passage.gate), None)
    gate = say("part.another_gate") if code is None else say("part.gate", code=code)
    return say("part.trace", when=_when(scene, passage.at), gate=gate, ago=ago(scene.attempt.now - passage.at))


def _zone_full(scene: Scene) -> Phrases:
    return say("denied.zone_full", zone=_zone(scene)), say("do.wait_for_room")


def _gate_full(scene: Scene) -> Phrases:
    return say("denied.gate_full", gate=_here(scene)), _send_on(scene)


def _always(happened: str, to_do: str) -> Callable[[Scene], Phrases]:
    return lambda _: (say(happened), say(to_do))


_OF: Mapping[Reason, Callable[[Scene], Phrases]] = MappingProxyType(
    {
        Reason.EVENT_NOT_LIVE: _event_not_live,
        Reason.EVENT_CANCELLED: _always("denied.event_cancelled", "do.refunds"),
        Reason.EVENT_POSTPONED: _event_postponed,
        Reason.EVENT_ENDED: _always("denied.event_ended", "do.left_behind"),
        Reason.GATE_CLOSED: _gate_closed,
        Reason.WRONG_GATE: _wrong_gate,
        Reason.TICKET_REPLACED: _always("denied.ticket_replaced", "do.latest_ticket"),
        Reason.TICKET_CANCELLED: _always("denied.ticket_cancelled", "do.keep_out_box_office"),
        Reason.TICKET_BLOCKED: _always("denied.ticket_blocked", "do.supervisor"),
        Reason.TICKET_UNPAID: _always("denied.ticket_unpaid", "do.box_office"),
        Reason.NOT_IN_SNAPSHOT: _always("denied.not_in_snapshot", "do.sync"),
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
