"""Moves ticket holders to another layout in two steps: first a report, then exactly what it says."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Literal

from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.ids import uuid7
from sync_server.audit.service import AuditLine, record
from sync_server.events import service as event_service
from sync_server.holds import service as holds
from sync_server.holds.selling import inventory
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql.bulk import insert_many
from sync_server.reseating import queries
from sync_server.reseating.carryover import carry_over
from sync_server.reseating.fingerprints import ResolvedMove, fingerprint
from sync_server.reseating.general_admission import zone_moves
from sync_server.reseating.models import ReseatingRecord, ReseatingStepRecord
from sync_server.reseating.proposal import Proposal, propose
from sync_server.reseating.report import report, steps
from sync_server.seating import event_layouts
from sync_server.seating import rules as seating_rules
from sync_server.seating.event_layouts import LayoutChoice
from sync_server.seating.plans.seat_plans import event_plan
from sync_server.tickets import queries as tickets
from sync_server.tickets import seat_moves

_STEPS_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class MoveRequest:
    """A requested move: to which layout, and what happens to holds."""

    chosen: LayoutChoice
    any_price: bool = False  # guests may get seats of another price category
    holds: Literal["refuse", "release"] = "refuse"
    reason: str = ""
    fingerprint: str = ""  # of the report to carry out
    given: frozenset[str] = frozenset()  # parts of the choice given in the request, so not carried over


def prepare(
    session: Session, organisation_id: str, event_id: str, move: MoveRequest, context: ActionContext
) -> Proposal:
    """First step, the slow part: work out the move while sales go on. Changes nothing."""
    return propose(session, organisation_id, event_id, move.chosen, context, any_price=move.any_price, given=move.given)


def keep(session: Session, proposal: Proposal, move: MoveRequest, context: ActionContext) -> ReseatingRecord:
    """First step, the rest: store the report. It becomes outdated with any change since it was worked out."""
    open_holds = inventory.open_holds(session, proposal.organisation_id, proposal.event_id)
    active = sum(hold.held_until > context.now for hold in open_holds)
    row = ReseatingRecord(
        id=uuid7(context.now, context.entropy),
        organisation_id=proposal.organisation_id,
        event_id=proposal.event_id,
        from_layout_id=proposal.before.layout.layout_id,
        to_layout_id=proposal.after.layout.layout_id,
        fingerprint=proposal.fingerprint,
        state="planned",
        report=report(proposal, holds=active),
        reason=move.reason,
        made_at=context.now,
        made_by=context.actor.id or None,
        done_at=None,
        moved=0,
        touched_at=context.now,
    )
    session.add(row)
    session.flush()
    rows = iter(steps(proposal, row.id))
    while batch := list(islice(rows, _STEPS_AT_ONCE)):
        insert_many(session, ReseatingStepRecord, batch, "")
    after = {"reseating": row.id, "to": row.to_layout_id, **row.report["counts"]}
    subject = "event", proposal.event_id, row.organisation_id
    record(session, AuditLine(context, "reseating_planned", *subject, after=after, reason=move.reason))
    return row


def close(
    session: Session, organisation_id: str, event_id: str, move: MoveRequest, context: ActionContext
) -> ReseatingRecord:
    """Second step: stop sales first, so that nobody has to wait for the move; then `begin` it or `reopen`.

    A report whose move has already begun is returned unchanged. Unavailable if another request is about to begin it.
    """
    row = queries.planned(session, organisation_id, event_id, move.fingerprint)
    if row.state == "planned":
        event_layouts.require_not_moving(session, organisation_id, event_id)
        event_layouts.close_for_move(session, organisation_id, event_id, context)
        row.state, row.touched_at = "closed", context.now
    elif row.state == "closed":
        raise seating_rules.guests_being_moved()
    return row


def reopen(session: Session, organisation_id: str, event_id: str, reseating_id: str) -> None:
    """Call off a move that has not begun: sales resume, and the report can be used again."""
    event_service.lock_event(session, organisation_id, event_id)
    row = queries.reseating(session, organisation_id, event_id, reseating_id)
    session.refresh(row)
    if row.state == "closed":
        row.state = "planned"
        event_layouts.reopen(session, organisation_id, event_id)


def begin(
    session: Session, organisation_id: str, event_id: str, move: MoveRequest, context: ActionContext
) -> ReseatingRecord:
    """Change the layout and move the seats; once this commits, the move can no longer be called off.

    The tickets follow in batches, see `batches`.
    Conflict `report_outdated` if anything has changed since the report, `guests_without_seats` if somebody would lose
    their seat, `holds_active` if seats are held and the request does not release them.
    """
    row = queries.planned(session, organisation_id, event_id, move.fingerprint)
    if row.state != "closed":
        raise seating_rules.guests_being_moved()
    chosen, _ = carry_over(session, organisation_id, event_id, move.chosen, move.given)
    resolved = ResolvedMove(organisation_id, event_id, chosen, move.any_price)
    _require_current(row, fingerprint(session, resolved, tickets.seated_tickets(session, organisation_id, event_id)))
    _end_holds(session, row, move, context)
    _change_layout(session, row, chosen, context)
    _move_seats(session, row, context)
    row.state, row.done_by, row.reason, row.touched_at = "moving", context.actor.id or None, move.reason, context.now
    session.flush()
    before = {"layout": row.from_layout_id}
    after = {"layout": row.to_layout_id, "reseating": row.id, **row.report["counts"]}
    subject = "event", event_id, organisation_id
    record(session, AuditLine(context, "reseating_begun", *subject, before, after, move.reason))
    return row


def _require_current(row: ReseatingRecord, current: str) -> None:
    if row.fingerprint != current:
        raise Conflict(
            "The tickets, the layout or your request have changed since this report. Request a new report, check it "
            "and carry that one out.",
            code="report_outdated",
        )
    if row.report["counts"]["unplaced"]:
        raise Conflict(
            "Some guests would have no seat. Open more seats, allow other price categories (any_price), or cancel "
            "their tickets first.",
            code="guests_without_seats",
        )


def _end_holds(session: Session, row: ReseatingRecord, move: MoveRequest, context: ActionContext) -> None:
    open_holds = inventory.open_holds(session, row.organisation_id, row.event_id)
    count = sum(hold.held_until > context.now for hold in open_holds)
    if count and move.holds == "refuse":
        raise Conflict(
            f"{count} holds are active. Wait until they end, or send holds: release.", code="holds_active", holds=count
        )
    holds.end_together(session, open_holds, context, reason="the event changed to another layout")


def _change_layout(session: Session, row: ReseatingRecord, chosen: LayoutChoice, context: ActionContext) -> None:
    """Change the layout, freeing places without seats under the old zone numbers and selling them under the new."""
    organisation_id, event_id = row.organisation_id, row.event_id
    old = event_plan(session, organisation_id, event_id)
    sold = tickets.count_seatless(session, organisation_id, event_id)
    for zone in zone_moves(old.event_zones, old.zones, {}, sold):
        for days, count in sorted(zone.by_days.items()):
            inventory.free_places(session, organisation_id, event_id, zone.before, count, days)
    event_layouts.move(session, organisation_id, event_id, chosen, context)
    new = event_plan(session, organisation_id, event_id)
    for zone in zone_moves(old.event_zones, old.zones, new.zones, sold):
        if zone.after is not None:
            for days, count in sorted(zone.by_days.items()):
                inventory.sell_places(session, organisation_id, event_id, zone.after, count, context, days=days)


def _move_seats(session: Session, row: ReseatingRecord, context: ActionContext) -> None:
    seats = queries.seats_of_steps(session, row)
    changed = {ticket: (old, new) for ticket, (old, new) in seats.items() if old != new}
    inventory.move(session, row.organisation_id, row.event_id, changed, context)
    seat_moves.begin_moves(session, row.organisation_id, row.event_id, queries.tickets_with_new_codes(session, row))
