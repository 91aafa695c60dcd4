"""The ticket code: signs tickets, and reads any text as a ticket or a refusal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec import Struct

from shared import base32, claims, parties
from shared.claims import Entitlement, Ticket, TicketFlags
from shared.errors import Unreadable
from shared.keys import KeyRing, KeyState
from shared.layouts import LONGEST, MARK, normalise
from shared.parties import Member
from shared.reasons import Reason

__all__ = [
    "Entitlement",
    "ReadParty",
    "ReadTicket",
    "Refusal",
    "Ticket",
    "TicketFlags",
    "as_text",
    "code_hash",
    "code_hash_of",
    "is_whole",
    "looks_like_ticket",
    "read",
    "read_party_or_ticket",
    "sign",
    "signed_bytes",
]

PREFIX = f"{MARK}{claims.VERSION}"
SIGNED_AS = b"gatehouse:ticket:1\x00"
"""Prefix of the signed bytes, so that signatures made for other purposes are never valid tickets."""

_SIGNATURE = 64
_SHORTEST = claims.HEAD.size + _SIGNATURE


class ReadTicket(Struct, frozen=True):
    """A code with a valid signature."""

    ticket: Ticket
    organisation: str
    key_distrusted: bool
    code_hash: bytes  # first 16 bytes of SHA-256 over head, extensions and signature
    party: bytes = b""  # the hash of the code of the party by which this ticket was shown; then code_hash is empty


@dataclass(frozen=True, slots=True)
class ReadParty:
    """A code with a valid signature that is good for several tickets."""

    event_number: int
    members: tuple[Member, ...]
    issued_at: int
    organisation: str
    key_distrusted: bool
    code_hash: bytes


@dataclass(frozen=True, slots=True)
class Refusal:
    """A code that was refused, and why."""

    reason: Reason
    ticket: Ticket | None = None  # unverified claims (unknown key, bad signature), for the journal only
    code_hash: bytes = b""
    key_revoked: bool = False  # with unknown_key: the device has the key, but it is revoked


_UNREADABLE = Refusal(Reason.UNREADABLE)
_UNSUPPORTED = Refusal(Reason.UNSUPPORTED_VERSION)


def party_claims(key_id: int, event_number: int, issued_at: int, members: Iterable[Member]) -> Ticket:
    """The claims of a party's code: it claims nothing but its members. Raises InvalidRequest."""
    extensions = ((claims.PARTY, parties.to_value(members)),)
    return Ticket(key_id, event_number, 0, 0, issued_at, extensions=extensions)


def sign(ticket: Ticket, private_key: Ed25519PrivateKey) -> str:
    """The text to print. Raises InvalidRequest, naming the claim, if one does not fit."""
    return as_text(signed_bytes(ticket, private_key))


def signed_bytes(ticket: Ticket, private_key: Ed25519PrivateKey) -> bytes:
    """Head, extensions and signature as bytes. Raises InvalidRequest like `sign`."""
    unsigned = claims.to_bytes(ticket)
    return unsigned + private_key.sign(SIGNED_AS + unsigned)


def as_text(signed: bytes) -> str:
    """Signed bytes as text to print."""
    return PREFIX + base32.encode(signed)


def code_hash(signed: bytes) -> bytes:
    """The hash of signed bytes in journals: enough to recognise a code, not to forge it."""
    return sha256(signed).digest()[:16]


def code_hash_of(text: str) -> bytes:
    """The hash of a code's text, whoever signed it. Raises Unreadable if it is not a code of this version."""
    found = _open(text)
    if isinstance(found, Refusal):
        raise Unreadable("This text is not a ticket code that this version knows.")
    return code_hash(found[1])


def looks_like_ticket(text: str) -> bool:
    """Whether a text may be a ticket of any version, whoever signed it: no poster, no drinks can."""
    return normalise(text).startswith(MARK)


def is_whole(text: str) -> bool:
    """Whether a text is a code of this version from its first sign to its last, whoever signed it."""
    return not isinstance(_open(text), Refusal)


def read(text: str, ring: KeyRing) -> ReadTicket | Refusal:
    """Reads any text: a verified ticket, or the reason for refusal; in bounded time, and never raises.

    For readers that admit one guest at a time: a party's code is answered like one of a later version.
    """
    found = read_party_or_ticket(text, ring)
    return Refusal(Reason.UNSUPPORTED_VERSION) if isinstance(found, ReadParty) else found


def read_party_or_ticket(text: str, ring: KeyRing) -> ReadTicket | ReadParty | Refusal:
    """Like `read`, but also a party's code."""
    found = _open(text)
    if isinstance(found, Refusal):
        return found
    ticket, signed = found
    key = ring.get(ticket.key_id)
    if key is None or key.state is KeyState.REVOKED:
        return Refusal(Reason.UNKNOWN_KEY, ticket, code_hash(signed), key_revoked=key is not None)
    if not key.verifies(signed[-_SIGNATURE:], SIGNED_AS + signed[:-_SIGNATURE]):
        # Key ids are unique within an organisation only: at an event that is not held, this may be a genuine ticket of
        # another organisation, whose key bears the same id.
        held = ticket.event_number in ring.events
        return Refusal(Reason.BAD_SIGNATURE if held else Reason.UNKNOWN_KEY, ticket, code_hash(signed))
    distrusted, shown = key.state is KeyState.DISTRUSTED, code_hash(signed)
    if ticket.extensions and (members := _members_of(ticket)):
        return ReadParty(ticket.event_number, members, ticket.issued_at, key.organisation, distrusted, shown)
    return ReadTicket(ticket, key.organisation, distrusted, shown)


def _members_of(ticket: Ticket) -> tuple[Member, ...]:
    value = next((value for tag, value in ticket.extensions if tag == claims.PARTY), b"")
    return parties.from_value(value) or ()


def _open(text: str) -> tuple[Ticket, bytes] | Refusal:
    """The claims, not verified yet, and the signed bytes they are in."""
    printed = normalise(text)
    if not printed.startswith(PREFIX):
        return _UNSUPPORTED if _is_other_version(printed) else _UNREADABLE
    raw = base32.decode(printed[len(PREFIX) :]) if len(printed) <= LONGEST else None
    if raw is None or len(raw) < _SHORTEST:
        return _UNREADABLE
    if raw[0] != claims.VERSION:
        return _UNSUPPORTED
    return _take_apart(raw)


def _is_other_version(printed: str) -> bool:
    digit = printed[len(MARK) : len(PREFIX)]
    return printed.startswith(MARK) and digit.isascii() and digit.isdigit()


def _take_apart(raw: bytes) -> tuple[Ticket, bytes] | Refusal:
    size = claims.HEAD.size
    end = size + raw[size - 1]
    extensions = claims.extensions_of(raw[size:end]) if end > size else ()
    if extensions is None or len(raw) < end + _SIGNATURE:
        return _UNREADABLE
    # Nothing may follow the signature unless a critical extension announces it, and none that does is defined yet.
    if any(tag & claims.CRITICAL and tag != claims.PARTY for tag, _ in extensions):
        return _UNSUPPORTED
    if len(raw) != end + _SIGNATURE:
        return _UNREADABLE
    ticket = claims.from_head(raw, extensions)
    return _UNSUPPORTED if ticket is None else (ticket, raw)
