"""The ticket code: what is printed, how it is signed, and how any text at all is read back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag

from shared.reasons import Reason


class Entitlement(IntEnum):
    """What an admission right allows; the numbers are printed on tickets."""

    SINGLE_ENTRY = 1
    LIMITED_REENTRY_PER_DAY = 2
    UNLIMITED_REENTRY = 3
    UNLIMITED_MULTI_DAY = 4
    GA_SEATED = 5
    GA_STANDING = 6


class TicketFlags(IntFlag):
    """One byte of facts for the people at the gate."""

    NONE = 0
    WHEELCHAIR = 1
    COMPANION = 2
    COMPANION_RESERVED = 4
    VIP = 8
    MEMBERSHIP = 16
    EXEMPT = 32
    LIVE_PROOF = 64


@dataclass(frozen=True, slots=True)
class Ticket:
    """The claims of one ticket, exactly as they are signed."""

    key_id: int
    event_number: int
    ticket_id: int
    issue: int
    issued_at: int  # unix seconds
    ticket_type: int = 0
    zone: int = 0
    seat: int = 0
    valid_days: int = 0  # bit n set: valid on the event's n-th day; 0: every day. Days beyond 16 travel in extension 1.
    entitlement: Entitlement = Entitlement.SINGLE_ENTRY
    limit: int = 0
    flags: TicketFlags = TicketFlags.NONE
    not_before: int = 0  # unix seconds, 0: none
    not_after: int = 0
    extensions: tuple[tuple[int, bytes], ...] = ()  # unknown, non-critical ones are kept here


@dataclass(frozen=True, slots=True)
class ReadTicket:
    """A code whose signature holds: claims that may be believed."""

    ticket: Ticket
    organisation: str
    key_distrusted: bool
    code_hash: bytes  # first 16 bytes of SHA-256 over head, extensions and signature


@dataclass(frozen=True, slots=True)
class Refusal:
    """A code that may not be believed, and why; claims only where they are known to be the signer's own."""

    reason: Reason
    ticket: Ticket | None = None  # unverified claims (unknown key, bad signature): for the journal's eyes only
    code_hash: bytes = b""
