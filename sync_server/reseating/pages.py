"""Builds a page of the steps of a move, with ticket numbers and seat names of both layouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy.orm import Session

from sync_server.plumbing.api.pagination import encode_cursor
from sync_server.reseating import queries
from sync_server.reseating.models import ReseatingRecord, ReseatingStepRecord
from sync_server.reseating.schemas import GuestMove, GuestWithoutSeat, WholeMigrationView, carried_over, of_report
from sync_server.seating.plans.seat_plans import layout_seats
from sync_server.tickets import queries as tickets
from sync_server.tickets.queries import public_id

_BATCH_SIZE: Final = 500


def page(session: Session, row: ReseatingRecord, *, after: int, limit: int) -> WholeMigrationView:
    """A report with the next moves after a step, and everybody without a seat."""
    steps, last = queries.moves(session, row, limit=limit, after=after)
    lost = queries.without_seats(session, row)
    numbers = _numbers(session, row.organisation_id, [*steps, *lost])
    old, new = (layout_seats(session, row.organisation_id, id) for id in (row.from_layout_id, row.to_layout_id))
    zones = {zone.number: zone.name for zone in new.zones}
    moves = [
        GuestMove(
            ticket=public_id(step.ticket_id),
            number=numbers[step.ticket_id],
            from_seat=old.name(step.old_seat),
            to_seat=new.name(step.new_seat),
            zone=zones[new.zone_of(step.new_seat)],
        )
        for step in steps
        if step.new_seat is not None
    ]
    unplaced = [
        GuestWithoutSeat(
            ticket=public_id(step.ticket_id),
            number=numbers[step.ticket_id],
            from_seat=old.name(step.old_seat),
            reason=step.why,
        )
        for step in lost
    ]
    following = None if last is None else encode_cursor([last])
    shared = of_report(row) | carried_over(row) | {"zones": row.report["zones"]}
    return WholeMigrationView.of(row, **shared, moves=moves, next=following, unplaced=unplaced)


def _numbers(session: Session, organisation_id: str, steps: Sequence[ReseatingStepRecord]) -> dict[int, str]:
    found: dict[int, str] = {}
    for start in range(0, len(steps), _BATCH_SIZE):
        some = [step.ticket_id for step in steps[start : start + _BATCH_SIZE]]
        found |= tickets.numbers(session, organisation_id, some)
    return found
