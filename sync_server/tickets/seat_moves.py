"""Moves tickets to other seats, and replaces their codes where the seat differs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from sync_server.events import queries as events
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql.bulk import among
from sync_server.revisions import service as revisions
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.tickets import queries, rules
from sync_server.tickets.keys import issues, signing_keys
from sync_server.tickets.models import TicketRecord


@dataclass(frozen=True, slots=True)
class NewSeat:
    """The new seat of a ticket; `new_code` is False if the printed seat stays the same."""

    zone: int  # of the event
    seat: int
    printed: rules.Seat
    new_code: bool  # whether the ticket needs a new code
    flags: int

    @classmethod
    def of(cls, plan: SeatPlan, number: int, *, new_code: bool, flags: int) -> NewSeat:
        """A seat of the event's plan."""
        seat = plan.layout.seat(number)
        labels = rules.Seat(seat.row, seat.seat_number, "", seat.section, seat.name)
        return cls(plan.event_zones[seat.zone], seat.number, labels, new_code, flags)


def begin_moves(session: Session, organisation_id: str, event_id: str, replaced: Collection[int]) -> None:
    """Release the seat keys of all seated tickets of an event, until `apply_moves` or `finish_moves`.

    Tickets may swap seats, so no key is assigned before all are released. The tickets in `replaced` will get new codes;
    Conflict if one of them has no issue numbers left, so that a move never fails half-way.
    """
    seated = TicketRecord.organisation_id == organisation_id, TicketRecord.event_id == event_id, TicketRecord.seat != 0
    exhausted = session.execute(
        select(TicketRecord.id).where(*seated, TicketRecord.issue >= rules.MAX_ISSUES)
    ).scalars()
    if not {*exhausted}.isdisjoint(replaced):
        rules.require_next_issue(rules.MAX_ISSUES)
    statement = update(TicketRecord).where(*seated).values(seat_key=rules.MOVING_PREFIX + TicketRecord.seat_key)
    session.execute(statement.execution_options(synchronize_session=False))


def finish_moves(session: Session, organisation_id: str, event_id: str) -> None:
    """Restore the seat keys of tickets that did not move."""
    unmoved = (
        TicketRecord.organisation_id == organisation_id,
        TicketRecord.event_id == event_id,
        TicketRecord.seat_key.startswith(rules.MOVING_PREFIX),
    )
    statement = (
        update(TicketRecord)
        .where(*unmoved)
        .values(seat_key=func.substr(TicketRecord.seat_key, len(rules.MOVING_PREFIX) + 1))
    )
    session.execute(statement.execution_options(synchronize_session=False))


def apply_moves(
    session: Session, organisation_id: str, event_id: str, seats: Mapping[int, NewSeat], context: ActionContext
) -> None:
    """Assign new seats to these tickets, with new codes where needed.

    The caller has locked the event, moved the seats in the inventory, and called `begin_moves`.
    """
    event = events.details(session, organisation_id, event_id)
    key_id = signing_keys.signing_key(session, organisation_id, context.now).id
    conditions = (
        TicketRecord.organisation_id == organisation_id,
        TicketRecord.event_id == event_id,
        among(session, TicketRecord.id, sorted(seats)),
    )
    rows = session.execute(select(TicketRecord).where(*conditions).execution_options(populate_existing=True)).scalars()
    moved = [_move(session, row, seats[row.id], context, event_number=event.number, key_id=key_id) for row in rows]
    session.flush()
    revisions.put(session, event.key, [queries.ticket_row(row, name_checks=event.name_checks) for row in moved])


def _move(
    session: Session, row: TicketRecord, to: NewSeat, context: ActionContext, *, event_number: int, key_id: int
) -> TicketRecord:
    row.zone, row.seat, row.seat_key = to.zone, to.seat, rules.layout_key(to.seat)
    row.seat_id, row.section = to.printed.seat_id, to.printed.section
    row.seat_row, row.seat_number, row.updated_at = to.printed.row, to.printed.number, context.now
    if to.new_code:
        row.flags = to.flags
        rules.require_next_issue(row.issue)
        row.issue += 1
        issues.freeze_claims(session, row, event_number, key_id, context.now)
    return row
