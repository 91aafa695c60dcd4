"""The claims of a ticket and their only byte form: a fixed head, then extensions."""

from __future__ import annotations

from enum import IntEnum, IntFlag
from struct import Struct

import msgspec

from shared import parties
from shared.errors import InvalidRequest

VERSION = 1
CRITICAL = 0x80
"""Extensions whose tag has this bit must be understood, or the ticket is refused."""
LONG_DAYS = 1
"""Extension: the valid days from the event's 17th day on, big-endian, without leading zero bytes."""
LIVE_PROOF_KEY = 0x81
"""Extension: the public key of a phone that signs a new proof every few seconds. Not supported yet, so refused."""
PARTY = 0x82
"""Extension: the tickets of a party, for all of which this one code is good."""

HEAD = Struct(">BHIQBIHHIHBBBIIB")
_DAYS_IN_HEAD = 16
_ROOM = {  # bytes of each claim in the head, except valid_days
    "key_id": 2,
    "event_number": 4,
    "ticket_id": 8,
    "issue": 1,
    "issued_at": 4,
    "ticket_type": 2,
    "zone": 2,
    "seat": 4,
    "entitlement": 1,
    "limit": 1,
    "flags": 1,
    "not_before": 4,
    "not_after": 4,
}

Extension = tuple[int, bytes]


class Entitlement(IntEnum):
    """What a ticket entitles to; the numbers are printed on tickets."""

    SINGLE_ENTRY = 1
    LIMITED_REENTRY_PER_DAY = 2
    UNLIMITED_REENTRY = 3
    UNLIMITED_MULTI_DAY = 4
    GA_SEATED = 5
    GA_STANDING = 6


class TicketFlags(IntFlag):
    """One byte of information for staff at the gate."""

    NONE = 0
    WHEELCHAIR = 1
    COMPANION = 2
    COMPANION_RESERVED = 4
    VIP = 8
    MEMBERSHIP = 16
    EXEMPT = 32
    LIVE_PROOF = 64


# Looked up on every scan: calling the enums would cost more than parsing the rest of the head.
_ENTITLEMENTS = {kind.value: kind for kind in Entitlement}
_FLAGS = tuple(TicketFlags(value) for value in range(256))
_LIVE_PROOF = int(TicketFlags.LIVE_PROOF)  # between numbers: an enumeration would make another of its values


class Ticket(msgspec.Struct, frozen=True):
    """The claims of one ticket, exactly as they are signed."""

    key_id: int
    event_number: int
    ticket_id: int
    issue: int
    issued_at: int  # unix seconds
    ticket_type: int = 0
    zone: int = 0
    seat: int = 0
    valid_days: int = 0  # bit n set: valid on the event's n-th day; 0: every day. Days beyond 16 are in extension 1.
    entitlement: Entitlement = Entitlement.SINGLE_ENTRY
    limit: int = 0
    flags: TicketFlags = TicketFlags.NONE
    not_before: int = 0  # unix seconds, 0: none
    not_after: int = 0
    extensions: tuple[Extension, ...] = ()  # unknown, non-critical ones, in order of their tags


def to_bytes(ticket: Ticket) -> bytes:
    """Encodes head and extensions. Raises InvalidRequest, naming the claim, if one does not fit."""
    _require_room(ticket)
    block = _block(ticket)
    t = ticket
    before_days = (VERSION, t.key_id, t.event_number, t.ticket_id, t.issue, t.issued_at, t.ticket_type, t.zone, t.seat)
    after_days = (t.entitlement, t.limit, t.flags, t.not_before, t.not_after)
    return HEAD.pack(*before_days, t.valid_days & 0xFFFF, *after_days, len(block)) + block


def extensions_of(block: bytes) -> tuple[Extension, ...] | None:
    """Tags and values; None if a length is wrong, tags are out of order, or the long days are not canonical."""
    found: list[Extension] = []
    at = 0
    while at < len(block):
        if at + 2 > len(block):
            return None
        tag, start = block[at], at + 2
        at = start + block[at + 1]
        value = block[start:at]
        if at > len(block) or (found and tag <= found[-1][0]) or not _well_formed(tag, value):
            return None
        found.append((tag, value))
    return tuple(found)


def _well_formed(tag: int, value: bytes) -> bool:
    if tag == LONG_DAYS:
        return value[:1] not in {b"", b"\0"}
    return tag != PARTY or parties.from_value(value) is not None


def from_head(head: bytes, extensions: tuple[Extension, ...]) -> Ticket | None:
    """Decodes the claims; None if they need something that this version cannot check."""
    (
        _version,
        key_id,
        event_number,
        ticket_id,
        issue,
        issued_at,
        ticket_type,
        zone,
        seat,
        days,
        kind,
        limit,
        flag_bits,
        not_before,
        not_after,
        _length,
    ) = HEAD.unpack_from(head)
    entitlement, flags = _ENTITLEMENTS.get(kind), _FLAGS[flag_bits]
    # A gate that cannot check a proof must not admit.
    if entitlement is None or flag_bits & _LIVE_PROOF:
        return None
    if extensions:
        days, extensions = _with_long_days(days, extensions)
    return Ticket(
        key_id,
        event_number,
        ticket_id,
        issue,
        issued_at,
        ticket_type,
        zone,
        seat,
        days,
        entitlement,
        limit,
        flags,
        not_before,
        not_after,
        extensions,
    )


def _with_long_days(days: int, extensions: tuple[Extension, ...]) -> tuple[int, tuple[Extension, ...]]:
    later = next((value for tag, value in extensions if tag == LONG_DAYS), b"")
    others = tuple(extension for extension in extensions if extension[0] != LONG_DAYS)
    return days | int.from_bytes(later, "big") << _DAYS_IN_HEAD, others


def _require_room(ticket: Ticket) -> None:
    for claim, size in _ROOM.items():
        if not 0 <= getattr(ticket, claim) < 1 << 8 * size:
            raise InvalidRequest(f"A ticket code has {size} bytes for {claim}; this value does not fit.", claim=claim)
    if ticket.valid_days < 0:
        raise InvalidRequest("The valid days of a ticket are a bit set and cannot be negative.", claim="valid_days")


def _block(ticket: Ticket) -> bytes:
    """Extensions in order of their tags, including the long days."""
    extensions = sorted((*_long_days(ticket.valid_days), *ticket.extensions))
    if any(tag == LONG_DAYS for tag, _ in ticket.extensions):
        raise InvalidRequest("Extension 1 is made from valid_days; do not pass it as well.", claim="extensions")
    if len({tag for tag, _ in extensions}) < len(extensions):
        raise InvalidRequest("An extension occurs twice in this ticket.", claim="extensions")
    if not all(0 <= tag < 256 for tag, _ in extensions) or sum(2 + len(value) for _, value in extensions) > 255:
        raise InvalidRequest("A ticket code has 255 bytes for extensions, tags below 256.", claim="extensions")
    return b"".join(bytes((tag, len(value))) + value for tag, value in extensions)


def _long_days(valid_days: int) -> tuple[Extension, ...]:
    later = valid_days >> _DAYS_IN_HEAD
    return ((LONG_DAYS, later.to_bytes((later.bit_length() + 7) // 8, "big")),) if later else ()
