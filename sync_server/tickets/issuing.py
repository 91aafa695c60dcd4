"""Issues tickets: of a type, on seats of the event's layout, or on seats in words; all of them or none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared.errors import Conflict, InvalidRequest
from shared.ids import Entropy, uuid7
from shared.snapshot import MembershipState, TicketState
from shared.tickets import TicketFlags
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.holds import inventory
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.principals import Deed
from sync_server.revisions import service as revisions
from sync_server.seating import event_layouts
from sync_server.tickets import issues, on_layout, queries, rules, signing, taking, types, wheelchairs, wishes
from sync_server.tickets.house import House, house
from sync_server.tickets.models import TicketRecord, TicketTypeRecord
from sync_server.tickets.wishes import Admission, Lot, Wish


@dataclass(frozen=True, slots=True)
class _Press:
    """What all tickets of one wish have in common."""

    facts: events.EventFacts
    wish: Wish
    key_id: int
    party: str
    codes: Iterator[str]


def issue(session: Session, organisation_id: str, event_id: str, wish: Wish, deed: Deed) -> Sequence[TicketRecord]:
    """Issue tickets; all of them or none.

    Conflict `insufficient_inventory`, `capacity_exceeded`, `seat_taken` or `zone_full` where there is no room.
    """
    event_layouts.require_open(session, organisation_id, event_id)
    event_service.lock(session, organisation_id, event_id)
    event_layouts.require_open(session, organisation_id, event_id)
    facts = events.facts(session, organisation_id, event_id)
    rules.require_issuing(facts.status)
    if not 1 <= wish.total <= rules.AT_ONCE:
        raise InvalidRequest(f"Ask for 1 to {rules.AT_ONCE} tickets at a time.", field="count")
    key_id = signing.signing_key(session, organisation_id, deed.now).id
    here = house(session, organisation_id, event_id, deed.now, deed.actor.id)
    lots = _lots(session, facts, here, wish)
    party = wish.party or uuid7(deed.now, deed.entropy)
    codes = iter(_confirmation_codes(session, facts.id, wish.total, deed.entropy))
    press = _Press(facts, wish, key_id, party, codes)
    made = [row for lot in lots for row in _printed(session, press, lot, deed)]
    if here is not None:
        taking.take(session, here, made, deed, wish.holds)
        wheelchairs.write_down(session, here, made, deed)
    elif wish.holds:
        inventory.use_up(session, organisation_id, event_id, wish.total, deed, holds=wish.holds)
    inventory.require_room(session, organisation_id, event_id, deed.now)
    _keep(session, made)
    revisions.put(session, facts.number, [queries.ticket_row(row, name_checks=facts.name_checks) for row in made])
    return made


def _lots(session: Session, facts: events.EventFacts, here: House | None, wish: Wish) -> list[Lot]:
    if here is None:
        kind = queries.ticket_type(session, facts.id, wish.ticket_type)
        wishes.require_words(wish.seats)
        _require_free(session, facts.id, wishes.require_apart(kind.zone, wish.seats))
        return [wishes.in_words(kind, wish)]
    if not wish.seats:
        return [on_layout.places(here, queries.ticket_type(session, facts.id, wish.ticket_type), wish)]
    wanted = wish.ticket_type
    kinds = [queries.ticket_type(session, facts.id, wanted)] if wanted else queries.ticket_types(session, facts.id)
    return on_layout.seats(here, kinds, wish)


def _require_free(session: Session, event_id: str, keys: dict[str, str]) -> None:
    """Say which seats are taken; the unique index stays the last guard."""
    gone = [keys[key] for key in queries.seats_taken(session, event_id, list(keys))] if keys else []
    if gone:
        raise wishes.taken(gone)


def _printed(session: Session, press: _Press, lot: Lot, deed: Deed) -> Iterable[TicketRecord]:
    """The tickets of a lot, counted against event and type, and told."""
    count = len(lot.admissions)
    first = event_service.take_numbers(session, press.facts.id, count)
    types.take(session, lot.kind, count)
    for place, admission in enumerate(lot.admissions):
        row = _blank(press, lot.kind, admission, deed)
        row.sequence = first + place
        row.number = f"{press.facts.code}-{row.sequence}"
        row.confirmation_code = next(press.codes)
        issues.freeze(session, row, press.key_id, deed.now)
        yield row
    _tell_issued(session, press, lot, first, deed)


def _blank(press: _Press, kind: TicketTypeRecord, admission: Admission, deed: Deed) -> TicketRecord:
    facts, wish, member = press.facts, press.wish, admission.member
    seat = admission.words or rules.Seat()
    flags = TicketFlags(kind.flags) | rules.flags_of(wish.flags) | admission.flags
    state = member.state if member else MembershipState.NONE
    return TicketRecord(
        id=_ticket_id(deed.entropy),
        organisation_id=facts.organisation_id,
        event_id=facts.id,
        event_number=facts.number,
        issue=1,
        state=int(TicketState.UNPAID if wish.unpaid else TicketState.VALID),
        ticket_type=kind.number,
        zone=admission.zone,
        seat=admission.seat,
        seat_id=seat.seat_id,
        section=seat.section,
        seat_row=seat.row,
        seat_number=seat.number,
        seat_key=admission.key,
        party=press.party,
        valid_days=kind.valid_days,
        entitlement=kind.entitlement,
        entry_limit=kind.entry_limit,
        flags=int(flags),
        not_before=kind.not_before,
        not_after=kind.not_after,
        membership_tier=member.tier if member else "",
        membership_id=member.id if member else "",
        membership_state=int(state),
        membership_until=member.until if member else 0,
        holder_name=seat.holder_name or wish.holder_name,
        notes=wish.notes,
        price_cents=kind.price_cents,
        currency=kind.currency,
        created_at=deed.now,
        updated_at=deed.now,
    )


def _ticket_id(entropy: Entropy) -> int:
    return int.from_bytes(entropy(8), "big") or 1


def _confirmation_codes(session: Session, event_id: str, count: int, entropy: Entropy) -> list[str]:
    codes: dict[str, None] = {}
    while len(codes) < count:
        fresh = iter([rules.confirmation_code(entropy(8)) for _ in range(count - len(codes))])
        while some := list(islice(fresh, 1000)):
            taken = queries.codes_taken(session, event_id, some)
            codes.update((code, None) for code in some if code not in taken)
    return list(codes)


def _keep(session: Session, made: Sequence[TicketRecord]) -> None:
    columns = [column.key for column in TicketRecord.__table__.columns]
    try:
        session.execute(insert(TicketRecord), [{name: getattr(row, name) for name in columns} for row in made])
    except IntegrityError:
        raise Conflict(
            "One of these seats was taken in the same moment. Nothing was issued.", code="seat_taken"
        ) from None


def _tell_issued(session: Session, press: _Press, lot: Lot, first: int, deed: Deed) -> None:
    facts, count = press.facts, len(lot.admissions)
    after: dict[str, Any] = {"ticket_type": lot.kind.number, "count": count, "first": first, "last": first + count - 1}
    after["seats"] = [admission.seat for admission in lot.admissions if admission.seat]
    where, now = facts.organisation_id, deed.now
    record(
        session,
        AuditLine(deed.actor, "tickets_issued", "event", facts.id, where, now, None, after, press.wish.override),
    )
    record_fact(session, Fact("tickets_issued", where, now, {"event": facts.id, "event_number": facts.number}, after))
