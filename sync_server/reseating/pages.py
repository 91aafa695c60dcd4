"""Builds a page of the steps of a move, with ticket numbers and seat names of both layouts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy.orm import Session

from sync_server.plumbing.api.pagination import encode_cursor
from sync_server.reseating import queries
from sync_server.reseating.models import ReseatingRecord, ReseatingStepRecord
from sync_server.reseating.schemas import GuestMove, GuestWithoutSeat, MovesPage
from sync_server.seating import queries as seating
from sync_server.tickets import queries as tickets
from sync_server.tickets.queries import public_id


def page(session: Session, row: ReseatingRecord, *, after: int, limit: int) -> MovesPage:
    """The next moves after a step, and everybody without a seat."""
    steps, last = queries.moves(session, row.id, limit=limit, after=after)
    lost = queries.without_seats(session, row.id)
    numbers = _numbers(session, [*steps, *lost])
    old = seating.seats_by_number(session, row.from_layout_id, (step.old_seat for step in (*steps, *lost)))
    new = seating.seats_by_number(session, row.to_layout_id, _new_seats(steps))
    zones = {zone.number: zone.name for zone in seating.zones(session, row.to_layout_id)}
    moves = [
        GuestMove(
            ticket=public_id(step.ticket_id),
            number=numbers[step.ticket_id],
            from_seat=old[step.old_seat].seat_id,
            to_seat=new[step.new_seat].seat_id,
            zone=zones[new[step.new_seat].zone],
        )
        for step in steps
        if step.new_seat is not None
    ]
    unplaced = [
        GuestWithoutSeat(
            ticket=public_id(step.ticket_id),
            number=numbers[step.ticket_id],
            from_seat=old[step.old_seat].seat_id,
            reason=step.why,
        )
        for step in lost
    ]
    return MovesPage(moves, None if last is None else encode_cursor([last]), unplaced)


def _new_seats(steps: Iterable[ReseatingStepRecord]) -> list[int]:
    return [step.new_seat for step in steps if step.new_seat is not None]


def _numbers(session: Session, steps: Sequence[ReseatingStepRecord]) -> dict[int, str]:
    found: dict[int, str] = {}
    for start in range(0, len(steps), seating.IN_LIST_LIMIT):
        found |= tickets.numbers(session, [step.ticket_id for step in steps[start : start + seating.IN_LIST_LIMIT]])
    return found
