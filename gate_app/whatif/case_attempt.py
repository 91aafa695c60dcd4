"""Builds the attempt for a case: signs a real ticket, makes rows and movements, and reads the code back."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec import structs

from gate_app.clock.time_format import local_time
from gate_app.scanning.gathering import as_member
from gate_app.whatif.case_format import Case, Code, PartyTicket, PastScan
from shared.admission import Attempt, Direction, Mode, Override, Readiness, Room
from shared.days import cutover, event_days, zone_named
from shared.errors import InvalidRequest
from shared.keys import KeyRing, KeyState, TicketKey
from shared.movements import passages
from shared.parties import Member
from shared.reasons import Reason
from shared.tickets import (
    Entitlement,
    ReadParty,
    ReadTicket,
    Refusal,
    Ticket,
    TicketFlags,
    as_text,
    party_claims,
    read,
    read_party_or_ticket,
    signed_bytes,
)
from shared.wire.snapshot import (
    EventDay,
    EventRow,
    GateRow,
    MembershipState,
    Movement,
    MovementKind,
    PolicyRow,
    TicketRow,
    TicketState,
    TicketTypeRow,
    WhenUncertain,
    ZoneRow,
)

HOUR = 3_600_000
OURS, THEIRS = "our organisation", "another organisation"
EVENT, OTHER_EVENT, TICKET, ZONE, TYPE, DEVICE = 1, 2, 0x0123_4567_89AB_CDEF, 1, 1, 1
_TICKET_ID_AT = 7  # its first byte in the signed bytes: after version, key id and event number

_THEIR_KEY = 4
_KEYS: dict[Code, int] = {"unknown_key": 9, "revoked_key": 2, "distrusted_key": 3, "other_organisation": _THEIR_KEY}
_ELSEWHERE = frozenset({"other_event", "other_organisation_same_key_id"})
_HELD = ((1, OURS, KeyState.ACTIVE), (2, OURS, KeyState.REVOKED), (3, OURS, KeyState.DISTRUSTED))


def attempt_of(case: Case) -> Attempt:
    """Everything the decision depends on, as a gate would have it. Raises InvalidRequest for an impossible case."""
    event = _event(case)
    ticket = _ticket(case, event)
    return _attempt(case, event, ticket, read(_text(case, ticket), _ring()))


def code_of_party(case: Case, party: tuple[PartyTicket, ...]) -> ReadParty | Refusal:
    """The code that is good for all of them, as a gate reads it. Raises InvalidRequest for an impossible case."""
    members = (Member(TICKET + nth, one.ticket.issue) for nth, one in enumerate(party))
    outer = _ticket(case, _event(case))
    claims = party_claims(outer.key_id, outer.event_number, outer.issued_at, members)
    extensions = (*claims.extensions, *outer.extensions)
    found = read_party_or_ticket(_text(case, structs.replace(claims, extensions=extensions)), _ring())
    # Only a ticket's code is read as a ticket: whatever else was signed here has members.
    return found if isinstance(found, ReadParty | Refusal) else Refusal(Reason.UNREADABLE)


def attempt_of_member(case: Case, code: ReadParty | Refusal, nth: int) -> Attempt:
    """The same for one ticket of a party: `case` has its ticket and history."""
    event = _event(case)
    ticket = _ticket(case, event)
    if isinstance(code, Refusal):
        return _attempt(case, event, ticket, code)
    row = replace(_row(case, ticket), ticket_id=TICKET + nth) if case.ticket.known else None
    return _attempt(case, event, ticket, as_member(code, code.members[nth], row))


def _attempt(case: Case, event: EventRow, ticket: Ticket, code: ReadTicket | Refusal) -> Attempt:
    now, gates = int(case.at), _gates(case)
    return Attempt(
        now=now,
        direction=Direction(case.direction),
        mode=Mode(case.mode),
        code=code,
        organisation=OURS,
        event=event if ticket.event_number == event.number else None,
        gate=gates[case.gate.code],
        zone=_zone(case),
        row=_row(case, ticket) if case.ticket.known else None,
        ticket_type=TicketTypeRow(TYPE, "Ticket", case.ticket.check or ""),
        history=passages(_movements(case, code, gates), code.code_hash, ticket.issue).passages,
        policy=_policy(case),
        snapshot_as_of=_as_of(case),
        uncertainty=round(case.clock.uncertainty_seconds * 1000),
        readiness=Readiness(case.device.ready, can_record=case.device.can_record),
        zone_room=_room(case.zone.inside, case.zone.capacity) if case.zone else None,
        gate_room=_room(case.gate.inside, case.gate.capacity),
        gates=tuple(gates.values()),
        override=Override(1, case.override.reason) if case.override and case.override.pin_ok else None,
        local_time=local_time(event.timezone),
    )


def _seconds(moment: int | None) -> int:
    return 0 if moment is None else moment // 1000


# --- The event ---


def _event(case: Case) -> EventRow:
    given = case.event
    starts, ends = _span(case)
    row = EventRow(
        number=EVENT,
        organisation=OURS,
        name="The event",
        status=given.status,
        starts_at=starts,
        ends_at=ends,
        timezone=given.timezone,
        days=(),
        rescheduled_at=given.rescheduled_at,
        go_live_at=given.go_live_at,
        end_at_auto=given.end_at_auto,
        counts_from=given.counts_from,
        anti_passback=given.anti_passback,
        cutover_empties=given.cutover_empties,
    )
    return replace(row, days=_days(case, row))


def _span(case: Case) -> tuple[int, int]:
    """Start and end; if left out they lie around `at`, but the end never before the start."""
    at = int(case.at)
    starts: int | None = case.event.starts
    ends: int | None = case.event.ends
    if starts is None:
        starts = at - 2 * HOUR if ends is None or at - 2 * HOUR < ends else ends - 6 * HOUR
    if ends is None:
        ends = at + 4 * HOUR if starts < at + 4 * HOUR else starts + 6 * HOUR
    if ends <= starts:
        raise InvalidRequest("event.ends: the event must end after it starts.")
    return starts, ends


_KEY_OF = {"timezone": "timezone", "cutover_hour": "cutover_hour", "starts_at": "starts", "ends_at": "ends"}


def _days(case: Case, row: EventRow) -> tuple[EventDay, ...]:
    # Rescheduling moves the days by the same distance; a date on the ticket is a day of the event.
    moved = row.rescheduled_at - row.starts_at if row.status == "postponed" and row.rescheduled_at is not None else 0
    try:
        listed = event_days(row.starts_at + moved, row.ends_at + moved, row.timezone, case.event.cutover_hour)
    except InvalidRequest as wrong:
        raise InvalidRequest(f"event.{_KEY_OF[wrong.details['field']]}: {wrong.message}") from wrong
    named = {_date(name) for name in case.ticket.days if isinstance(name, str)}
    missing = named - {date.fromisoformat(day.date) for day in listed}
    return tuple(sorted((*listed, *(_day(case, day) for day in missing)), key=lambda day: day.start))


def _date(name: str) -> date:
    try:
        return date.fromisoformat(name)
    except ValueError as wrong:
        raise InvalidRequest(f"ticket.days: {name!r} is not a date like 2026-07-04.") from wrong


def _day(case: Case, day: date) -> EventDay:
    zone, hour = zone_named(case.event.timezone), case.event.cutover_hour
    try:
        return EventDay(day.isoformat(), cutover(day, zone, hour), cutover(day + timedelta(days=1), zone, hour))
    except OverflowError as wrong:
        raise InvalidRequest(f"ticket.days: {day} is out of range.") from wrong


# --- The ticket and its code ---


def _ticket(case: Case, event: EventRow) -> Ticket:
    given = case.ticket
    return Ticket(
        key_id=_KEYS.get(case.code, 1),
        event_number=OTHER_EVENT if case.code in _ELSEWHERE else EVENT,
        ticket_id=TICKET,
        issue=given.issue,
        issued_at=_issued_at(case),
        ticket_type=TYPE,
        zone=ZONE if case.zone else 0,
        valid_days=_bitmap(case, event),
        entitlement=Entitlement[given.entitlement.upper()],
        limit=given.limit or 0,
        flags=_flags(case),
        not_before=_seconds(given.not_before),
        not_after=_seconds(given.not_after),
        extensions=((0xFF, b"?"),) if case.code == "critical_extension" else (),
    )


def _as_of(case: Case) -> int:
    return case.at - round(case.policy.snapshot_age_hours * HOUR)


def _issued_at(case: Case) -> int:
    as_of = -(-_as_of(case) // 1000)
    # The issue time does not matter for a known ticket: its row proves that it is genuine.
    return as_of - 3600 if case.ticket.issued == "before_snapshot" and not case.ticket.known else as_of


def _bitmap(case: Case, event: EventRow) -> int:
    dates = [day.date for day in event.days]
    bits = 0
    for named in case.ticket.days:
        nth = dates.index(_date(named).isoformat()) if isinstance(named, str) else named - 1
        if nth >= len(dates):
            raise InvalidRequest(f"ticket.days: the event has no day {named}; its last is day {len(dates)}.")
        bits |= 1 << nth
    return bits


def _flags(case: Case) -> TicketFlags:
    flags = TicketFlags.NONE
    for name in case.ticket.flags:
        flags |= TicketFlags[name.upper()]
    return flags


@cache
def _key(key_id: int) -> Ed25519PrivateKey:
    # Derived from a public string: these keys sign what-if tickets only; no installation uses them.
    return Ed25519PrivateKey.from_private_bytes(sha256(f"gatehouse what-if key {key_id}".encode()).digest())


@cache
def _ring() -> KeyRing:
    held = (*_HELD, (_THEIR_KEY, THEIRS, KeyState.ACTIVE))
    keys = (TicketKey.of(id, whose, _key(id).public_key().public_bytes_raw(), state) for id, whose, state in held)
    return KeyRing.of(keys, {EVENT})


def _text(case: Case, ticket: Ticket) -> str:
    if case.code == "garbage":
        return "https://example.org/not-a-ticket"
    signer = _THEIR_KEY if case.code == "other_organisation_same_key_id" else ticket.key_id
    signed = bytearray(signed_bytes(ticket, _key(signer)))
    if case.code == "altered":
        signed[_TICKET_ID_AT] ^= 1
    text = as_text(bytes(signed))
    return text.replace("MAY1", "MAY2", 1) if case.code == "future_version" else text


def _row(case: Case, ticket: Ticket) -> TicketRow:
    given, member = case.ticket, case.ticket.membership
    return TicketRow(
        ticket_id=TICKET,
        issue=given.current_issue,
        state=TicketState[given.state.upper()],
        ticket_type=TYPE,
        zone=ticket.zone,
        seat=0,
        seat_row="",
        seat_number="",
        valid_days=ticket.valid_days,
        entitlement=ticket.entitlement,
        limit=ticket.limit,
        flags=ticket.flags,
        not_before=ticket.not_before,
        not_after=ticket.not_after,
        membership_tier=member.tier if member else "",
        membership_state=MembershipState[member.state.upper()] if member else MembershipState.NONE,
        membership_until=(member.until or 0) if member else 0,
        number="WHATIF-1",
        confirmation_code="",
    )


# --- Gates, zones and history ---


def _gates(case: Case) -> dict[str, GateRow]:
    given = case.gate
    here = GateRow(1, given.code, given.code, given.open, _zone_numbers(case), given.capacity)
    others = dict.fromkeys(past.gate for past in case.history if past.gate != given.code)
    # Only the codes of other gates are known, so nobody is sent to one.
    return {given.code: here} | {code: GateRow(n, code, code, open=False) for n, code in enumerate(others, 2)}


def _zone_numbers(case: Case) -> tuple[int, ...]:
    own = case.zone.name if case.zone else None
    return tuple(ZONE if name == own else ZONE + nth for nth, name in enumerate(case.gate.zones, 1))


def _zone(case: Case) -> ZoneRow | None:
    given = case.zone
    return ZoneRow(ZONE, given.name, given.kind, given.capacity, given.membership_tier) if given else None


def _room(inside: int, capacity: int | None) -> Room | None:
    return None if capacity is None else Room(inside, capacity)


def _policy(case: Case) -> PolicyRow:
    given = case.policy
    oldest = None if given.max_snapshot_age_hours is None else round(given.max_snapshot_age_hours * HOUR)
    return PolicyRow(0, given.known_tickets_only, oldest, WhenUncertain(given.clock_uncertain))


def _movements(case: Case, code: ReadTicket | Refusal, gates: dict[str, GateRow]) -> list[Movement]:
    # Refusals and test scans are journal entries but not movements.
    made: list[Movement] = []
    for seq, past in enumerate(case.history, 1):
        if past.verdict == "admit" and past.mode == "real":
            made.extend(_movement(case, past, seq, gates[past.gate].number, code.code_hash))
    return made


def _movement(case: Case, past: PastScan, seq: int, gate: int, code_hash: bytes) -> list[Movement]:
    kind = MovementKind[past.direction.upper()]
    at, issue = past.at, case.ticket.issue
    moved = Movement(DEVICE, 0, seq, kind, TICKET, issue, code_hash, at, gate, ZONE if case.zone else 0)
    if not past.annulled:
        return [moved]
    return [moved, structs.replace(moved, seq=seq + 1_000_000, kind=MovementKind.ANNULMENT, annuls=(DEVICE, 0, seq))]
