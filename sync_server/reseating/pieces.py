"""Carries out a move that was begun, piece by piece: others write in between, and a later one can go on with it."""

from __future__ import annotations

from typing import Final

from sqlalchemy.orm import Session

from sync_server.audit.service import AuditLine, record
from sync_server.events import service as event_service
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.work import MORE
from sync_server.reseating import queries, service
from sync_server.reseating.models import ReseatingRecord
from sync_server.seating import event_layouts
from sync_server.seating import queries as seating
from sync_server.tickets import moving, rules
from sync_server.tickets.moving import NewSeat

PIECE: Final = 1_000
"""So many tickets get their new seats in one transaction."""
LEFT_ALONE_MS: Final = 15_000
"""After so long without a piece a worker goes on with a move: whoever began it does a piece in much less."""


def go_on(session: Session, row: ReseatingRecord, deed: Deed, *, limit: int = PIECE) -> bool:
    """The next piece, and with the last one the house opens again; whether anything is left to be done.

    Two who do this at once take turns: the event is locked, and how far the move has come stands in its row.
    """
    event_service.lock(session, row.organisation_id, row.event_id)
    session.refresh(row)
    if row.state != "moving":
        return False
    steps = queries.piece(session, row, limit)
    layout = seating.event_layout(session, row.organisation_id, row.event_id)
    known = {int(number): int(event_zone) for number, event_zone in layout.event_zones.items()}
    seats = seating.seats_numbered(session, row.to_layout_id, (step.new_seat or 0 for step in steps))
    arriving: dict[int, NewSeat] = {}
    for step in steps:
        seat = seats[step.new_seat or 0]
        words = rules.Seat(seat.row, seat.seat_number, "", seat.section, seat.seat_id)
        arriving[step.ticket_id] = NewSeat(known[seat.zone], seat.number, words, step.new_code, step.flags)
    moving.arrive(session, row.organisation_id, row.event_id, arriving, deed)
    row.moved, row.touched_at = (steps[-1].place if steps else row.moved), deed.now
    session.flush()
    if len(steps) == limit:
        return True
    _finish(session, row, deed)
    return False


def _finish(session: Session, row: ReseatingRecord, deed: Deed) -> None:
    moving.settle(session, row.event_id)
    event_layouts.open_again(session, row.organisation_id, row.event_id, deed)
    row.state, row.done_at = "done", deed.now
    session.flush()
    where, counts = row.organisation_id, row.report["counts"]
    before, after = {"layout": row.from_layout_id}, {"layout": row.to_layout_id, "reseating": row.id, **counts}
    line = AuditLine(deed.actor, "event_reseated", "event", row.event_id, where, deed.now, before, after, row.reason)
    record(session, line)
    subjects = {"event": row.event_id, "reseating": row.id}
    payload = {"from": row.from_layout_id, "to": row.to_layout_id, "stay": counts["stay"], "move": counts["move"]}
    record_fact(session, Fact("event_reseated", where, deed.now, subjects, payload))


def go_on_alone(session: Session, deed: Deed) -> object:
    """The worker's part: go on with what a killed server has left behind; what it had not begun is not begun."""
    row = queries.left_alone(session, deed.now - LEFT_ALONE_MS)
    if row is None:
        return None
    if row.state == "closed":
        service.open_again(session, row.organisation_id, row.event_id, row.id, deed)
        return None
    more = go_on(session, row, deed)
    if more:
        row.touched_at = deed.now - LEFT_ALONE_MS  # still nobody's but the workers'
    return MORE if more else None
