"""Reads of ticket types and tickets; an id of another organisation counts as unknown."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from shared.errors import InvalidRequest, NotFound
from shared.tickets import Entitlement, TicketFlags
from shared.wire.snapshot import MembershipState, TicketRow, TicketState
from sync_server.events import locked_events
from sync_server.events import queries as events
from sync_server.events.days.chosen_days import EVERY_DAY, beyond
from sync_server.plumbing.api.pagination import Page, decode_cursor, paginate
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.bulk import among
from sync_server.tickets import rules
from sync_server.tickets.models import BY_SEATS, OCCUPIES_SEAT, TicketRecord, TicketTypeRecord

TicketType = TicketTypeRecord
"""A ticket type's row, as orders may read it within their transaction."""
Ticket = TicketRecord
"""A ticket's row, likewise."""

_HEX = frozenset("0123456789abcdef")
KNOWN_TYPES = "ticket types of the events that this transaction has locked"


@dataclass(frozen=True, slots=True)
class TicketFilter:
    """Which tickets to list."""

    ticket_type: int | None = None
    state: TicketState | None = None
    number: str | None = None
    confirmation_code: str | None = None


def public_id(ticket_id: int) -> str:
    """A ticket's id in the API: sixteen hexadecimal digits."""
    return f"{ticket_id:016x}"


def internal_id(public: str) -> int:
    """The ticket id for a public id; NotFound for a malformed one."""
    if len(public) != 16 or not set(public) <= _HEX:
        raise NotFound("There is no such ticket.", code="ticket_not_found")
    return int(public, 16)


def ticket(session: Session, organisation_id: str, ticket_id: int, *, lock: bool = False) -> TicketRecord:
    """That ticket of this organisation, or NotFound."""
    statement = select(TicketRecord).where(
        TicketRecord.organisation_id == organisation_id, TicketRecord.id == ticket_id
    )
    if lock:
        statement = statement.with_for_update(key_share=True).execution_options(populate_existing=True)
    row = session.execute(statement).scalar_one_or_none()
    if row is None:
        raise NotFound("There is no such ticket.", code="ticket_not_found")
    return row


def event_of(session: Session, organisation_id: str, ticket_id: int) -> str:
    """The event of that ticket, which never changes: a row that this transaction has read is not read again."""
    row = session.get(TicketRecord, (organisation_id, ticket_id))
    if row is None:
        raise NotFound("There is no such ticket.", code="ticket_not_found")
    return row.event_id


@dataclass(frozen=True, slots=True)
class JoinedTicket:
    """A ticket that others join: its seat and its group."""

    seat: int = 0
    group_id: str = ""


def joined_ticket(session: Session, organisation_id: str, event_id: str, public: str) -> JoinedTicket:
    """The ticket to join; InvalidRequest if it is cancelled or for another event."""
    row = ticket(session, organisation_id, internal_id(public))
    if row.event_id != event_id or row.state == TicketState.CANCELLED:
        raise InvalidRequest("joins: this is not a valid ticket for the event.", field="joins")
    return JoinedTicket(row.seat, row.group_id)


def tickets(
    session: Session, organisation_id: str, event_id: str, filters: TicketFilter, *, limit: int, after: str | None
) -> Page[TicketRecord]:
    """A page of an event's tickets in order of issue."""
    statement = select(TicketRecord).where(
        TicketRecord.organisation_id == organisation_id, TicketRecord.event_id == event_id
    )
    for column, value in (
        (TicketRecord.ticket_type, filters.ticket_type),
        (TicketRecord.state, filters.state),
        (TicketRecord.number, filters.number),
        (TicketRecord.confirmation_code, filters.confirmation_code),
    ):
        statement = statement if value is None else statement.where(column == value)
    start = decode_cursor(after, int)
    if start is not None:
        statement = statement.where(TicketRecord.sequence > start[0])
    statement = statement.order_by(TicketRecord.sequence).limit(limit + 1)
    return paginate(session.execute(statement).scalars().all(), limit, lambda row: (row.sequence,))


@dataclass(frozen=True, slots=True)
class SeatedTicket:
    """A ticket on a seat of a layout, with what moving it needs."""

    id: int
    sequence: int
    seat: int
    issue: int
    state: int
    group_id: str
    flags: int
    ticket_type: int
    days: int  # as a bitmap
    member: bool


def seated_tickets(session: Session, organisation_id: str, event_id: str) -> Iterator[SeatedTicket]:
    """An event's uncancelled tickets on seats of its layout, in order of issue."""
    row = TicketRecord
    columns = (
        row.id,
        row.sequence,
        row.seat,
        row.issue,
        row.state,
        row.group_id,
        row.flags,
        row.ticket_type,
        row.valid_days,
    )
    member = row.membership_state != MembershipState.NONE
    conditions = (
        row.organisation_id == organisation_id,
        row.event_id == event_id,
        row.seat != 0,
        row.state != TicketState.CANCELLED,
    )
    statement = select(*columns, member).where(*conditions).order_by(row.sequence)
    for found in session.execute(statement, execution_options={"yield_per": 1_000}):
        yield SeatedTicket(*tuple(found))


def on_seat(session: Session, event: EventKey, seat: int) -> Sequence[TicketRecord]:
    """The tickets of a seat, by its number in the layout, that are not cancelled: one for each day at most."""
    row = TicketRecord
    here = row.organisation_id == event.organisation_id, row.event_id == event.event_id
    wanted = select(row).where(*here, row.seat == seat, row.state != TicketState.CANCELLED)
    return session.execute(wanted.order_by(row.sequence)).scalars().all()


def seats_of_party(session: Session, event: EventKey, group_id: str) -> frozenset[int]:
    """The seats of those who bought together; none for a ticket without a party."""
    row = TicketRecord
    here = row.organisation_id == event.organisation_id, row.event_id == event.event_id, row.group_id == group_id
    wanted = select(row.seat).where(*here, row.seat != 0, row.state != TicketState.CANCELLED)
    return frozenset(session.execute(wanted).scalars()) if group_id else frozenset()


def printed_seat(row: TicketRecord) -> rules.Seat:
    """The seat as it stands on the ticket."""
    return rules.Seat(row.seat_row, row.seat_number, row.holder_name, row.section, row.seat_id)


def depends_on_membership(row: TicketRecord) -> bool:
    """Whether a ticket was sold to a member as one."""
    return row.membership_state != MembershipState.NONE


def numbers(session: Session, organisation_id: str, ticket_ids: Collection[int]) -> dict[int, str]:
    """The printed numbers of these tickets."""
    rows = session.execute(
        select(TicketRecord.id, TicketRecord.number).where(
            TicketRecord.organisation_id == organisation_id, among(session, TicketRecord.id, ticket_ids)
        )
    )
    return {row.id: row.number for row in rows}


def tickets_by_id(session: Session, organisation_id: str, ticket_ids: Collection[int]) -> dict[int, TicketRecord]:
    """These tickets of an organisation, by id."""
    here = TicketRecord.organisation_id == organisation_id, among(session, TicketRecord.id, ticket_ids)
    found = session.execute(select(TicketRecord).where(*here)).scalars() if ticket_ids else ()
    return {row.id: row for row in found}


def count_seatless(session: Session, organisation_id: str, event_id: str) -> dict[tuple[int, int], int]:
    """The number of uncancelled tickets without a seat, by zone of the event and bitmap of days."""
    conditions = (
        TicketRecord.organisation_id == organisation_id,
        TicketRecord.event_id == event_id,
        TicketRecord.seat == 0,
        TicketRecord.state != TicketState.CANCELLED,
    )
    zone, days = TicketRecord.zone, TicketRecord.valid_days
    counted = select(zone, days, func.count()).where(*conditions).group_by(zone, days)
    return {(number, bits): count for number, bits, count in session.execute(counted)}


def days_of_membership(
    session: Session, organisation_id: str, event_id: str, membership_id: str, zones: Collection[int]
) -> list[int]:
    """The valid days of each ticket that the membership gives access to these zones, as bitmaps."""
    row = TicketRecord
    conditions = row.organisation_id == organisation_id, row.membership_id == membership_id, row.event_id == event_id
    needs_membership = row.zone.in_(zones), row.flags.bitwise_and(int(TicketFlags.EXEMPT)) == 0
    valid = row.state != TicketState.CANCELLED
    return list(session.execute(select(row.valid_days).where(*conditions, *needs_membership, valid)).scalars())


def seats_taken(session: Session, organisation_id: str, event_id: str, keys: Sequence[str]) -> dict[str, list[int]]:
    """Those of the seat keys that belong to uncancelled tickets, each with the days of those, as bitmaps."""
    taken = (
        TicketRecord.organisation_id == organisation_id,
        TicketRecord.event_id == event_id,
        TicketRecord.seat_key.in_(keys),
        TicketRecord.state != TicketState.CANCELLED,
    )
    found: dict[str, list[int]] = {}
    for key, days in session.execute(select(TicketRecord.seat_key, TicketRecord.valid_days).where(*taken)):
        if key is not None:
            found.setdefault(key, []).append(days)
    return found


def codes_taken(session: Session, organisation_id: str, event_id: str, codes: Sequence[str]) -> set[str]:
    """Those of the confirmation codes that the event already uses."""
    conditions = (
        TicketRecord.organisation_id == organisation_id,
        TicketRecord.event_id == event_id,
        TicketRecord.confirmation_code.in_(codes),
    )
    return set(session.execute(select(TicketRecord.confirmation_code).where(*conditions)).scalars())


def ticket_type(session: Session, organisation_id: str, event_id: str, number: int) -> TicketTypeRecord:
    """One ticket type of an event, or NotFound."""
    row = session.get(TicketTypeRecord, (organisation_id, event_id, number))
    if row is None:
        raise no_such_type(number)
    return row


def no_such_type(number: int) -> NotFound:
    """What to say about a ticket type that the event does not have."""
    return NotFound(f"The event has no ticket type {number}.", code="ticket_type_not_found")


def ticket_types(session: Session, organisation_id: str, event_id: str) -> Sequence[TicketTypeRecord]:
    """The ticket types of an event, in the order in which they are listed."""
    return session.execute(by_event(organisation_id, event_id)).scalars().all()


def by_event(organisation_id: str, event_id: str) -> Select[TicketTypeRecord]:
    """The statement that reads the ticket types of an event, in their order."""
    row = TicketTypeRecord
    here = row.organisation_id == organisation_id, row.event_id == event_id
    return select(row).where(*here).order_by(row.position, row.number)


def offered(session: Session, organisation_id: str, events: Sequence[str]) -> dict[str, int]:
    """How many tickets the types of these events offer together, sold ones among them."""
    row = TicketTypeRecord
    here = row.organisation_id == organisation_id, row.event_id.in_(events)
    counted = select(row.event_id, func.sum(row.quantity)).where(*here).group_by(row.event_id)
    return {event_id: int(count) for event_id, count in session.execute(counted)} if events else {}


def types_of_locked(session: Session, organisation_id: str, event_id: str) -> Sequence[TicketTypeRecord]:
    """The ticket types of an event, read once by a transaction that has locked it: nobody else changes them.

    What is issued and reserved of them may have changed since.
    """
    if not locked_events.is_locked(session, organisation_id, event_id):
        return ticket_types(session, organisation_id, event_id)
    known: dict[str, Sequence[TicketTypeRecord]] = session.info.setdefault(KNOWN_TYPES, {})
    if event_id not in known:
        known[event_id] = ticket_types(session, organisation_id, event_id)
    return known[event_id]


def sells_for_money(session: Session, organisation_id: str) -> bool:
    """Whether an event to come has a ticket type in the shop that costs something."""
    row = TicketTypeRecord
    costs = row.organisation_id == organisation_id, row.hidden.is_(False), row.price_cents + row.fee_cents > 0
    found = select(row.number).where(*costs, row.event_id.in_(events.ids_to_come(organisation_id)))
    return session.execute(found.limit(1)).first() is not None


def count_types(session: Session, organisation_id: str, event_id: str) -> int:
    """How many ticket types an event has."""
    here = TicketTypeRecord.organisation_id == organisation_id, TicketTypeRecord.event_id == event_id
    return session.execute(select(func.count()).where(*here)).scalar_one()


def count_naming_days(session: Session, organisation_id: str, event_id: str, first: int) -> int:
    """How many uncancelled tickets are for certain days, this one or a later one among them."""
    row = TicketRecord
    here = row.organisation_id == organisation_id, row.event_id == event_id, row.valid_days != EVERY_DAY
    counted = select(row.valid_days, func.count()).where(*here, row.state != TicketState.CANCELLED)
    found = session.execute(counted.group_by(row.valid_days))
    return sum(count for bits, count in found if beyond(bits, first))


def count_types_naming_days(session: Session, organisation_id: str, event_id: str, first: int) -> int:
    """How many ticket types are for certain days, this one or a later one among them."""
    return sum(beyond(row.valid_days, first) for row in ticket_types(session, organisation_id, event_id))


def count_by_days(session: Session, organisation_id: str, event_id: str) -> dict[tuple[int, int], int]:
    """The number of uncancelled tickets, by ticket type and bitmap of days."""
    row = TicketRecord
    here = row.organisation_id == organisation_id, row.event_id == event_id, row.state != TicketState.CANCELLED
    counted = select(row.ticket_type, row.valid_days, func.count()).where(*here)
    rows = session.execute(counted.group_by(row.ticket_type, row.valid_days))
    return {(ticket_type, bits): count for ticket_type, bits, count in rows}


def for_every_day(organisation_id: str, event_id: str) -> Select[int]:
    """The ids of the uncancelled tickets that are for every day of an event."""
    row = TicketRecord
    here = row.organisation_id == organisation_id, row.event_id == event_id, row.valid_days == EVERY_DAY
    return select(row.id).where(*here, row.state != TicketState.CANCELLED)


def count_standing(session: Session, event: EventKey, ticket_type: int | None = None) -> int:
    """How many tickets of an event are not cancelled, of all types or of one."""
    row = TicketRecord
    wanted = select(func.count()).where(event.of(row), row.state != TicketState.CANCELLED)
    wanted = wanted if ticket_type is None else wanted.where(row.ticket_type == ticket_type)
    return session.execute(wanted).scalar_one()


def count_standing_but(session: Session, event: EventKey, but: Select[int]) -> int:
    """How many tickets of an event are not cancelled and not among these."""
    return session.execute(select(func.count()).where(*_standing_but(event, but))).scalar_one()


def standing_but(session: Session, event: EventKey, but: Select[int], *, after: int | None, limit: int) -> list[int]:
    """The next tickets of an event that are not cancelled and not among these, by id."""
    wanted = select(TicketRecord.id).where(*_standing_but(event, but))
    wanted = wanted if after is None else wanted.where(TicketRecord.id > after)
    return list(session.execute(wanted.order_by(TicketRecord.id).limit(limit)).scalars())


def _standing_but(event: EventKey, but: Select[int]) -> tuple[ColumnElement[bool], ...]:
    return event.of(TicketRecord), TicketRecord.state != TicketState.CANCELLED, TicketRecord.id.not_in(but)


def ticket_row(row: TicketRecord, *, name_checks: bool) -> TicketRow:
    """The snapshot row of a ticket, with the name only if the event checks names."""
    return TicketRow(
        ticket_id=row.id,
        issue=row.issue,
        state=TicketState(row.state),
        ticket_type=row.ticket_type,
        zone=row.zone,
        seat=row.seat,
        seat_row=", ".join(part for part in (row.section, row.seat_row) if part),
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


def seats(session: Session, event: EventKey) -> dict[int, int]:
    """The seat of every uncancelled ticket that has one, by the ticket's id."""
    row = TicketRecord
    seated = event.of(row), row.seat != 0, OCCUPIES_SEAT
    return dict(session.execute(select(row.id, row.seat).where(*seated).with_hint(row, BY_SEATS, "sqlite")).all())


def count_by_type(session: Session, event: EventKey, among: Select[int]) -> dict[int, int]:
    """How many tickets of each type are among those that a statement selects by their ids."""
    row = TicketRecord
    counted = select(row.ticket_type, func.count()).where(event.of(row), row.id.in_(among)).group_by(row.ticket_type)
    return {number: int(count) for number, count in session.execute(counted)}
