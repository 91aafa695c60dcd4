"""Rows 6, 7 and 9: the gate serves the ticket's zone, the ticket is valid, and it has the required membership."""

from __future__ import annotations

from shared.attempts import Attempt
from shared.reasons import Reason
from shared.tickets import TicketFlags
from shared.verdicts.scene import Scene
from shared.wire.snapshot import GateRow, MembershipState, TicketRow, TicketState


def unpermitted_gate(scene: Scene, _now: int) -> Reason | None:
    """Row 6: the gate. A device without a gate at this event serves nobody."""
    gate = scene.attempt.gate
    if gate is None:
        return Reason.WRONG_GATE
    if not gate.open and not scene.attempt.gate_opened:
        return Reason.GATE_CLOSED
    return None if serves(gate, scene.terms.zone) else Reason.WRONG_GATE


def serves(gate: GateRow, zone: int) -> bool:
    """A gate that lists no zones serves all; a ticket without a zone is served by every gate."""
    return not zone or not gate.zones or zone in gate.zones


def right_gate(scene: Scene) -> GateRow | None:
    """The nearest other open gate for this ticket, by number; for a wheelchair a step-free one first."""
    here = scene.attempt.gate
    number = here.number if here else 0
    others = [gate for gate in scene.attempt.gates if gate.number != number or here is None]
    fit = [gate for gate in others if gate.open and serves(gate, scene.terms.zone)]
    rolls = bool(scene.terms.flags & TicketFlags.WHEELCHAIR)
    return min(fit, key=lambda g: (rolls and not g.step_free, abs(g.number - number), g.number), default=None)


_UNSOUND = {
    TicketState.CANCELLED: Reason.TICKET_CANCELLED,
    TicketState.BLOCKED: Reason.TICKET_BLOCKED,
    TicketState.UNPAID: Reason.TICKET_UNPAID,
}


def unsound_ticket(scene: Scene, now: int) -> Reason | None:
    """Row 7: the ticket is replaced, cancelled, blocked, unpaid, or unknown although it must be known."""
    attempt = scene.attempt
    issue = scene.code.ticket.issue
    row = attempt.row
    if issue < attempt.highest_issue_seen or (row is not None and issue < row.issue):
        return Reason.TICKET_REPLACED
    if row is not None and scene.known:
        return _UNSOUND.get(row.state)
    return Reason.NOT_IN_SNAPSHOT if _ought_to_be_known(scene, now) else None


def _ought_to_be_known(scene: Scene, now: int) -> bool:
    attempt, ticket = scene.attempt, scene.code.ticket
    return (
        scene.code.key_distrusted
        or attempt.policy.known_tickets_only
        or _too_old(attempt, now)
        # Issue times are whole seconds: a ticket is certainly older than the snapshot only if its second had ended.
        or (ticket.issued_at + 1) * 1000 <= attempt.snapshot_as_of
    )


def _too_old(attempt: Attempt, now: int) -> bool:
    oldest = attempt.policy.max_snapshot_age_ms
    return oldest is not None and now - attempt.snapshot_as_of > oldest


def without_membership(scene: Scene, now: int) -> Reason | None:
    """Row 9: the membership. For an unknown ticket only its flag can be checked."""
    tier = asked_tier(scene)
    if tier is None:
        return None
    row = scene.attempt.row
    if row is not None and scene.known:
        holds = is_member(row, now) and row.membership_tier == tier
    else:
        holds = bool(scene.terms.flags & TicketFlags.MEMBERSHIP)
    return None if holds else Reason.MEMBERSHIP_EXPIRED


def asked_tier(scene: Scene) -> str | None:
    """The tier that the zone requires; None if it requires none or the ticket is exempt."""
    zone = scene.attempt.zone
    if zone is None or zone.membership_tier is None or scene.terms.flags & TicketFlags.EXEMPT:
        return None
    return zone.membership_tier


def is_member(row: TicketRow, now: int) -> bool:
    """Whether the membership is active and has not expired; `until` is exclusive."""
    return row.membership_state == MembershipState.ACTIVE and (not row.membership_until or now < row.membership_until)
