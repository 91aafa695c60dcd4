"""Issues tickets, and cancels, blocks, unblocks and issues them anew."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared import claims
from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from shared.ids import Entropy
from shared.snapshot import MembershipState, TicketState
from shared.tickets import Entitlement, Ticket, TicketFlags
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.principals import Deed
from sync_server.revisions import service as revisions
from sync_server.tickets import queries, rules, signing, types
from sync_server.tickets.models import TicketRecord, TicketTypeRecord


@dataclass(frozen=True, slots=True)
class Wish:
    """What shall be issued: so many of a type, or these seats."""

    ticket_type: int
    count: int = 0
    seats: Sequence[rules.Seat] = ()
    holder_name: str = ""
    flags: Iterable[str] = ()
    notes: str = ""
    unpaid: bool = False
    membership_tier: str = ""
    membership_until: Millis = 0

    @property
    def total(self) -> int:
        """How many tickets that makes."""
        return len(self.seats) or self.count


@dataclass(frozen=True, slots=True)
class _Step:
    """A ticket's way into another state, and the fact that tells of it."""

    state: TicketState
    fact: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Change:
    """What a ticket was, what it is, and why."""

    before: dict[str, Any]
    after: dict[str, Any]
    reason: str


def issue(session: Session, organisation_id: str, event_id: str, wish: Wish, deed: Deed) -> Sequence[TicketRecord]:
    """Issue tickets of one type; all of them or none.

    Conflict `insufficient_inventory`, `capacity_exceeded` or `seat_taken` where there is no room.
    """
    event_service.lock(session, organisation_id, event_id)
    facts = events.facts(session, organisation_id, event_id)
    rules.require_issuing(facts.status)
    if not 1 <= wish.total <= rules.AT_ONCE:
        raise InvalidRequest(f"Ask for 1 to {rules.AT_ONCE} tickets at a time.", field="count")
    kind = queries.ticket_type(session, event_id, wish.ticket_type)
    signer = signing.signing_key(session, organisation_id, deed.now)
    _require_free(session, event_id, kind.zone, wish.seats)
    first = event_service.take_numbers(session, event_id, wish.total)
    types.take(session, kind, wish.total)
    made = list(_made(session, facts, kind, wish, deed, key_id=signer.id, first=first))
    _keep(session, made)
    revisions.put(session, facts.number, [queries.ticket_row(row, name_checks=facts.name_checks) for row in made])
    _tell_issued(session, facts, wish, first, deed)
    return made


def _made(
    session: Session,
    facts: events.EventFacts,
    kind: TicketTypeRecord,
    wish: Wish,
    deed: Deed,
    *,
    key_id: int,
    first: int,
) -> Iterable[TicketRecord]:
    codes = _confirmation_codes(session, facts.id, wish.total, deed.entropy)
    for place, code in enumerate(codes):
        seat = wish.seats[place] if wish.seats else None
        row = _blank(facts, kind, wish, seat, deed)
        row.sequence = first + place
        row.number = f"{facts.code}-{row.sequence}"
        row.confirmation_code = code
        _sign_for(row, key_id, deed.now)
        yield row


def _blank(
    facts: events.EventFacts, kind: TicketTypeRecord, wish: Wish, seat: rules.Seat | None, deed: Deed
) -> TicketRecord:
    flags = TicketFlags(kind.flags) | rules.flags_of(wish.flags)
    if wish.membership_tier:
        flags |= TicketFlags.MEMBERSHIP
    member = MembershipState.ACTIVE if wish.membership_tier else MembershipState.NONE
    return TicketRecord(
        id=_ticket_id(deed.entropy), organisation_id=facts.organisation_id, event_id=facts.id,
        event_number=facts.number, issue=1, state=int(TicketState.UNPAID if wish.unpaid else TicketState.VALID),
        ticket_type=kind.number, zone=kind.zone, seat=0, seat_row=seat.row if seat else "",
        seat_number=seat.number if seat else "", seat_key=rules.seat_key(kind.zone, seat) if seat else None,
        valid_days=kind.valid_days, entitlement=kind.entitlement, entry_limit=kind.entry_limit, flags=int(flags),
        not_before=kind.not_before, not_after=kind.not_after, membership_tier=wish.membership_tier,
        membership_state=int(member), membership_until=wish.membership_until,
        holder_name=(seat.holder_name if seat else "") or wish.holder_name, notes=wish.notes,
        price_cents=kind.price_cents, currency=kind.currency, created_at=deed.now, updated_at=deed.now,
    )  # fmt: skip


def _require_free(session: Session, event_id: str, zone: int, seats: Sequence[rules.Seat]) -> None:
    """Say which seats are taken; the unique index stays the last guard."""
    keys = {rules.seat_key(zone, seat): f"{seat.row} {seat.number}".strip() for seat in seats}
    if len(keys) < len(seats):
        raise InvalidRequest("seats: a seat is named twice.", field="seats")
    taken = [keys[key] for key in queries.seats_taken(session, event_id, list(keys))] if keys else []
    if taken:
        raise Conflict(f"Taken already: {', '.join(taken)}. Nothing was issued.", code="seat_taken", seats=taken)


def _keep(session: Session, made: Sequence[TicketRecord]) -> None:
    columns = [column.key for column in TicketRecord.__table__.columns]
    try:
        session.execute(insert(TicketRecord), [{name: getattr(row, name) for name in columns} for row in made])
    except IntegrityError:
        raise Conflict(
            "One of these seats was taken in the same moment. Nothing was issued.", code="seat_taken"
        ) from None


def _sign_for(row: TicketRecord, key_id: int, now: Millis) -> None:
    """Freeze the words of this issue; the signature over them is made when the code is asked for."""
    row.key_id, row.issued_at = key_id, now // 1000
    row.claims = claims.to_bytes(
        Ticket(
            key_id=key_id, event_number=row.event_number, ticket_id=row.id, issue=row.issue, issued_at=row.issued_at,
            ticket_type=row.ticket_type, zone=row.zone, seat=row.seat, valid_days=row.valid_days,
            entitlement=Entitlement(row.entitlement), limit=row.entry_limit, flags=TicketFlags(row.flags),
            not_before=row.not_before, not_after=row.not_after,
        )
    )  # fmt: skip


def _ticket_id(entropy: Entropy) -> int:
    return int.from_bytes(entropy(8), "big") or 1


def _confirmation_codes(session: Session, event_id: str, count: int, entropy: Entropy) -> list[str]:
    codes: dict[str, None] = {}
    while len(codes) < count:
        fresh = [rules.confirmation_code(entropy(8)) for _ in range(count - len(codes))]
        taken: set[str] = set()
        for start in range(0, len(fresh), 1000):
            taken |= queries.codes_taken(session, event_id, fresh[start : start + 1000])
        codes.update((code, None) for code in fresh if code not in taken)
    return list(codes)


def cancel(session: Session, organisation_id: str, ticket_id: int, deed: Deed, *, reason: str) -> TicketRecord:
    """A ticket is good no more; its seat and its place in the capacity are free again."""
    event_id = queries.ticket(session, organisation_id, ticket_id).event_id
    event_service.lock(session, organisation_id, event_id)  # event, type, ticket: one order for everybody
    step = _Step(TicketState.CANCELLED, "ticket_cancelled", reason)
    row = _change_state(session, organisation_id, ticket_id, step, deed)
    event_service.give_back(session, row.event_id)
    types.give_back(session, row.event_id, row.ticket_type)
    return row


def block(session: Session, organisation_id: str, ticket_id: int, deed: Deed, *, reason: str) -> TicketRecord:
    """Hold a ticket back for now: lost, stolen, disputed."""
    step = _Step(TicketState.BLOCKED, "ticket_blocked", reason)
    return _change_state(session, organisation_id, ticket_id, step, deed)


def unblock(session: Session, organisation_id: str, ticket_id: int, deed: Deed, *, reason: str) -> TicketRecord:
    """Let a blocked ticket be good again."""
    _require_state(session, organisation_id, ticket_id, TicketState.BLOCKED)
    step = _Step(TicketState.VALID, "ticket_unblocked", reason)
    return _change_state(session, organisation_id, ticket_id, step, deed)


def settle(session: Session, organisation_id: str, ticket_id: int, deed: Deed, *, reason: str) -> TicketRecord:
    """The ticket is paid for: it is good from now on."""
    _require_state(session, organisation_id, ticket_id, TicketState.UNPAID)
    step = _Step(TicketState.VALID, "ticket_settled", reason)
    return _change_state(session, organisation_id, ticket_id, step, deed)


def _require_state(session: Session, organisation_id: str, ticket_id: int, wanted: TicketState) -> None:
    present = TicketState(queries.ticket(session, organisation_id, ticket_id, lock=True).state)
    if present is not wanted:
        raise Conflict(f"The ticket is {present.name.lower()}, not {wanted.name.lower()}.", code="invalid_ticket_state")


def reissue(session: Session, organisation_id: str, ticket_id: int, deed: Deed, *, reason: str) -> TicketRecord:
    """A new code for the same ticket; the codes before are replaced."""
    row = queries.ticket(session, organisation_id, ticket_id, lock=True)
    if row.state == TicketState.CANCELLED:
        raise Conflict("A cancelled ticket gets no new code. Issue another ticket.", code="ticket_cancelled")
    rules.require_next_issue(row.issue)
    before = {"issue": row.issue, "key": row.key_id}
    row.issue, row.updated_at = row.issue + 1, deed.now
    _sign_for(row, signing.signing_key(session, organisation_id, deed.now).id, deed.now)
    after = {"issue": row.issue, "key": row.key_id}
    _tell(session, row, "ticket_reissued", deed, _Change(before, after, reason))
    return row


def reissue_signed_by(session: Session, organisation_id: str, key_id: int, deed: Deed, *, limit: int) -> int:
    """Issue anew up to `limit` tickets that this key signed; how many there were. Repeat until none is left."""
    mine = (
        select(TicketRecord.id)
        .where(
            TicketRecord.key_id == key_id,
            TicketRecord.organisation_id == organisation_id,
            TicketRecord.state != TicketState.CANCELLED,
        )
        .limit(limit)
    )
    ids = session.execute(mine).scalars().all()
    for ticket_id in ids:
        reissue(session, organisation_id, ticket_id, deed, reason=f"key {key_id} is revoked")
    return len(ids)


def move_times(session: Session, organisation_id: str, event_id: str, distance_ms: int, deed: Deed) -> None:
    """Times of types and tickets move with the event; gates believe the rows, not what was printed before."""
    seconds, facts = distance_ms // 1000, events.facts(session, organisation_id, event_id)
    for kind in session.execute(select(TicketTypeRecord).where(TicketTypeRecord.event_id == event_id)).scalars():
        _move(kind, seconds)
        kind.sale_start_at = None if kind.sale_start_at is None else kind.sale_start_at + distance_ms
        kind.sale_end_at = None if kind.sale_end_at is None else kind.sale_end_at + distance_ms
    timed = (TicketRecord.not_before != 0) | (TicketRecord.not_after != 0)
    for row in session.execute(select(TicketRecord).where(TicketRecord.event_id == event_id, timed)).scalars():
        _move(row, seconds)
        row.updated_at = deed.now
        _put(session, row, name_checks=facts.name_checks)


def show_names(session: Session, event_id: str, *, name_checks: bool) -> None:
    """Gates get the holders' names, or lose them, as the event asks for name checks or not."""
    named = TicketRecord.event_id == event_id, TicketRecord.holder_name != ""
    for row in session.execute(select(TicketRecord).where(*named)).scalars():
        _put(session, row, name_checks=name_checks)


def _move(row: TicketTypeRecord | TicketRecord, seconds: int) -> None:
    row.not_before = row.not_before + seconds if row.not_before else 0
    row.not_after = row.not_after + seconds if row.not_after else 0


def _change_state(session: Session, organisation_id: str, ticket_id: int, step: _Step, deed: Deed) -> TicketRecord:
    row = queries.ticket(session, organisation_id, ticket_id, lock=True)
    old = TicketState(row.state)
    rules.require_way(old, step.state)
    row.state, row.updated_at = int(step.state), deed.now
    change = _Change({"state": old.name.lower()}, {"state": step.state.name.lower()}, step.reason)
    _tell(session, row, step.fact, deed, change)
    return row


def _tell(session: Session, row: TicketRecord, name: str, deed: Deed, change: _Change) -> None:
    session.flush()
    public, where = queries.public_id(row.id), row.organisation_id
    line = AuditLine(deed.actor, name, "ticket", public, where, deed.now, change.before, change.after, change.reason)
    record(session, line)
    subjects = {"ticket": public, "event": row.event_id, "event_number": row.event_number}
    record_fact(session, Fact(name, where, deed.now, subjects, change.after))
    facts = events.facts(session, where, row.event_id)
    _put(session, row, name_checks=facts.name_checks)


def _put(session: Session, row: TicketRecord, *, name_checks: bool) -> None:
    revisions.put(session, row.event_number, [queries.ticket_row(row, name_checks=name_checks)])


def _tell_issued(session: Session, facts: events.EventFacts, wish: Wish, first: int, deed: Deed) -> None:
    after = {"ticket_type": wish.ticket_type, "count": wish.total, "first": first, "last": first + wish.total - 1}
    where, now = facts.organisation_id, deed.now
    record(session, AuditLine(deed.actor, "tickets_issued", "event", facts.id, where, now, None, after))
    record_fact(session, Fact("tickets_issued", where, now, {"event": facts.id, "event_number": facts.number}, after))
