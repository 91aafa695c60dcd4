"""Reads of ticket types and tickets; a foreign id answers as one that does not exist."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.errors import InvalidRequest, NotFound
from shared.snapshot import MembershipState, TicketRow, TicketState, TicketTypeRow
from shared.tickets import Entitlement, TicketFlags
from sync_server.plumbing.many import among
from sync_server.plumbing.pages import Page, cut, position
from sync_server.tickets.models import TicketRecord, TicketTypeRecord

_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class TicketFilter:
    """Which tickets to list."""

    ticket_type: int | None = None
    state: TicketState | None = None
    number: str | None = None
    confirmation_code: str | None = None


def public_id(ticket_id: int) -> str:
    """A ticket's id as people and scripts write it: sixteen hexadecimal digits."""
    return f"{ticket_id:016x}"


def internal_id(public: str) -> int:
    """The other way; NotFound for what is no id."""
    if len(public) != 16 or not set(public) <= _HEX:
        raise NotFound("There is no such ticket.", code="ticket_not_found")
    return int(public, 16)


def ticket(session: Session, organisation_id: str, ticket_id: int, *, lock: bool = False) -> TicketRecord:
    """That ticket of this organisation, or NotFound."""
    wanted = select(TicketRecord).where(TicketRecord.id == ticket_id, TicketRecord.organisation_id == organisation_id)
    if lock:
        wanted = wanted.with_for_update(key_share=True).execution_options(populate_existing=True)
    row = session.execute(wanted).scalar_one_or_none()
    if row is None:
        raise NotFound("There is no such ticket.", code="ticket_not_found")
    return row


@dataclass(frozen=True, slots=True)
class Joined:
    """A ticket that others join: where its guest sits, and with whom."""

    seat: int = 0
    party: str = ""


def joined(session: Session, organisation_id: str, event_id: str, public: str) -> Joined:
    """A ticket that admits to this event; InvalidRequest where it does not."""
    row = ticket(session, organisation_id, internal_id(public))
    if row.event_id != event_id or row.state == TicketState.CANCELLED:
        raise InvalidRequest("joins: that is no ticket that admits to this event.", field="joins")
    return Joined(row.seat, row.party)


def tickets(
    session: Session, event_id: str, chosen: TicketFilter, *, limit: int, after: str | None
) -> Page[TicketRecord]:
    """The tickets of an event that was looked up before, in the order of their issuing."""
    wanted = select(TicketRecord).where(TicketRecord.event_id == event_id)
    for column, value in (
        (TicketRecord.ticket_type, chosen.ticket_type),
        (TicketRecord.state, chosen.state),
        (TicketRecord.number, chosen.number),
        (TicketRecord.confirmation_code, chosen.confirmation_code),
    ):
        wanted = wanted if value is None else wanted.where(column == value)
    start = position(after, int)
    if start is not None:
        wanted = wanted.where(TicketRecord.sequence > start[0])
    ordered = wanted.order_by(TicketRecord.sequence).limit(limit + 1)
    return cut(session.execute(ordered).scalars().all(), limit, lambda row: (row.sequence,))


@dataclass(frozen=True, slots=True)
class SeatedTicket:
    """A ticket on a seat of a layout, as far as moving it asks."""

    id: int
    sequence: int
    seat: int
    issue: int
    state: int
    party: str
    flags: int
    ticket_type: int
    member: bool


def seated(session: Session, event_id: str) -> Iterator[SeatedTicket]:
    """All tickets of an event that are on seats of its layout and not cancelled, in the order of their issuing."""
    row = TicketRecord
    columns = row.id, row.sequence, row.seat, row.issue, row.state, row.party, row.flags, row.ticket_type
    member = row.membership_state != MembershipState.NONE
    mine = row.event_id == event_id, row.seat != 0, row.state != TicketState.CANCELLED
    wanted = select(*columns, member).where(*mine).order_by(row.sequence)
    for found in session.execute(wanted, execution_options={"yield_per": 1_000}):
        yield SeatedTicket(*found)


def numbers(session: Session, ticket_ids: Collection[int]) -> dict[int, str]:
    """What is printed on these tickets of an event that was looked up before."""
    rows = session.execute(
        select(TicketRecord.id, TicketRecord.number).where(among(session, TicketRecord.id, ticket_ids))
    )
    return {row.id: row.number for row in rows}


def seatless(session: Session, event_id: str) -> dict[int, int]:
    """How many tickets without a seat there are that are not cancelled, by zone of the event."""
    mine = TicketRecord.event_id == event_id, TicketRecord.seat == 0, TicketRecord.state != TicketState.CANCELLED
    counted = select(TicketRecord.zone, func.count().label("n")).where(*mine).group_by(TicketRecord.zone)
    return {row.zone: row.n for row in session.execute(counted)}


def days_of_member(
    session: Session, organisation_id: str, event_id: str, membership_id: str, zones: Collection[int]
) -> list[int]:
    """On which days somebody is let in to these zones of the event by this membership: the bits of each ticket."""
    row = TicketRecord
    mine = row.organisation_id == organisation_id, row.membership_id == membership_id, row.event_id == event_id
    asked = row.zone.in_(zones), row.flags.bitwise_and(int(TicketFlags.EXEMPT)) == 0
    good = row.state != TicketState.CANCELLED
    return list(session.execute(select(row.valid_days).where(*mine, *asked, good)).scalars())


def seats_taken(session: Session, event_id: str, keys: Sequence[str]) -> list[str]:
    """Which of these seats belong to a ticket that is not cancelled."""
    taken = (
        TicketRecord.event_id == event_id,
        TicketRecord.seat_key.in_(keys),
        TicketRecord.state != TicketState.CANCELLED,
    )
    return list(session.execute(select(TicketRecord.seat_key).where(*taken)).scalars())  # type: ignore[arg-type]


def codes_taken(session: Session, event_id: str, codes: Sequence[str]) -> set[str]:
    """Which of these confirmation codes the event has already."""
    here = TicketRecord.event_id == event_id, TicketRecord.confirmation_code.in_(codes)
    return set(session.execute(select(TicketRecord.confirmation_code).where(*here)).scalars())


def ticket_type(session: Session, event_id: str, number: int) -> TicketTypeRecord:
    """One ticket type of an event that was looked up before, or NotFound."""
    row = session.get(TicketTypeRecord, (event_id, number))
    if row is None:
        raise NotFound(f"The event has no ticket type {number}.", code="ticket_type_not_found")
    return row


def ticket_types(session: Session, event_id: str) -> Sequence[TicketTypeRecord]:
    """The ticket types of an event that was looked up before."""
    here = select(TicketTypeRecord).where(TicketTypeRecord.event_id == event_id)
    return session.execute(here.order_by(TicketTypeRecord.number)).scalars().all()


def planned_quantity(session: Session, event_id: str) -> int:
    """How many tickets all types of an event may come to."""
    total = select(func.coalesce(func.sum(TicketTypeRecord.quantity), 0)).where(TicketTypeRecord.event_id == event_id)
    return int(session.execute(total).scalar_one())


def counts(session: Session, event_id: str) -> dict[str, int]:
    """How many tickets of an event are in which state."""
    states = (
        select(TicketRecord.state, func.count()).where(TicketRecord.event_id == event_id).group_by(TicketRecord.state)
    )
    return {TicketState(state).name.lower(): count for state, count in session.execute(states)}


def ticket_row(row: TicketRecord, *, name_checks: bool) -> TicketRow:
    """A ticket as gates hold it; the name only where the event asks for name checks."""
    return TicketRow(
        ticket_id=row.id,
        issue=row.issue,
        state=TicketState(row.state),
        ticket_type=row.ticket_type,
        zone=row.zone,
        seat=row.seat,
        seat_row=", ".join(words for words in (row.section, row.seat_row) if words),
        seat_number=row.seat_number,
        valid_days=row.valid_days,
        entitlement=Entitlement(row.entitlement),
        limit=row.entry_limit,
        flags=TicketFlags(row.flags),
        not_before=row.not_before,
        not_after=row.not_after,
        membership_tier=row.membership_tier,
        membership_state=MembershipState(row.membership_state),
        membership_until=row.membership_until,
        number=row.number,
        confirmation_code=row.confirmation_code,
        name=row.holder_name if name_checks else "",
        notes=row.notes,
    )


def type_row(row: TicketTypeRecord) -> TicketTypeRow:
    """A ticket type as gates hold it."""
    return TicketTypeRow(row.number, row.name, row.check_words)
