"""Gives tickets other seats: the same tickets, issued anew where the guest must sit elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from sync_server.events import queries as events
from sync_server.plumbing.many import among
from sync_server.plumbing.principals import Deed
from sync_server.revisions import service as revisions
from sync_server.tickets import issues, queries, rules, signing
from sync_server.tickets.models import TicketRecord


@dataclass(frozen=True, slots=True)
class NewSeat:
    """Where a ticket's seat is from now on; `new_code` is False for the same chair that says the same."""

    zone: int  # of the event
    seat: int
    words: rules.Seat
    new_code: bool  # for which the code that people have is replaced
    flags: int  # what the ticket says from now on


def set_out(session: Session, event_id: str, replaced: Collection[int]) -> None:
    """Let all tickets give up the keys of their seats, which they keep in another form until they arrive, or `settle`.

    Two of them may change seats with one another: nobody is given a key before all of them are returned. `replaced`
    get another code; Conflict where one of them could be issued no more: whoever has set out will arrive.
    """
    here = TicketRecord.event_id == event_id, TicketRecord.seat != 0
    spent = session.execute(select(TicketRecord.id).where(*here, TicketRecord.issue >= rules.MOST_ISSUES)).scalars()
    if not {*spent}.isdisjoint(replaced):
        rules.require_next_issue(rules.MOST_ISSUES)
    left = update(TicketRecord).where(*here).values(seat_key=rules.LEFT + TicketRecord.seat_key)
    session.execute(left.execution_options(synchronize_session=False))


def settle(session: Session, event_id: str) -> None:
    """Everybody has arrived: the keys of those whom nothing happened to are good again."""
    there = TicketRecord.event_id == event_id, TicketRecord.seat_key.startswith(rules.LEFT)
    back = update(TicketRecord).where(*there).values(seat_key=func.substr(TicketRecord.seat_key, len(rules.LEFT) + 1))
    session.execute(back.execution_options(synchronize_session=False))


def arrive(session: Session, organisation_id: str, event_id: str, seats: Mapping[int, NewSeat], deed: Deed) -> None:
    """Let these tickets have these seats; codes that would tell gates otherwise are replaced, the others stay good.

    Whoever calls has locked the event, moved the seats themselves, and let all set out who move.
    """
    facts = events.facts(session, organisation_id, event_id)
    key_id = signing.signing_key(session, organisation_id, deed.now).id
    mine = TicketRecord.event_id == event_id, among(session, TicketRecord.id, sorted(seats))
    rows = session.execute(select(TicketRecord).where(*mine).execution_options(populate_existing=True)).scalars()
    moved = [_moved(session, row, seats[row.id], key_id, deed) for row in rows]
    session.flush()
    revisions.put(session, facts.number, [queries.ticket_row(row, name_checks=facts.name_checks) for row in moved])


def _moved(session: Session, row: TicketRecord, to: NewSeat, key_id: int, deed: Deed) -> TicketRecord:
    row.zone, row.seat, row.seat_key = to.zone, to.seat, rules.layout_key(to.seat)
    row.seat_id, row.section = to.words.seat_id, to.words.section
    row.seat_row, row.seat_number, row.updated_at = to.words.row, to.words.number, deed.now
    if to.new_code:
        row.flags = to.flags
        rules.require_next_issue(row.issue)
        row.issue += 1
        issues.freeze(session, row, key_id, deed.now)
    return row
