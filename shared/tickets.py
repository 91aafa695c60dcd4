"""The ticket code: what is printed, how it is signed, and how any text at all is read back."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shared import base32, claims
from shared.claims import Entitlement, Ticket, TicketFlags
from shared.errors import Unreadable
from shared.keys import KeyRing, KeyState, TicketKey
from shared.layouts import LONGEST, MARK, normalise
from shared.reasons import Reason

__all__ = [
    "Entitlement",
    "ReadTicket",
    "Refusal",
    "Ticket",
    "TicketFlags",
    "as_text",
    "code_hash",
    "code_hash_of",
    "read",
    "sign",
    "signed_bytes",
]

PREFIX = f"{MARK}{claims.VERSION}"
SIGNED_AS = b"gatehouse:ticket:1\x00"
"""Stands before the signed bytes, so that no signature made for another purpose passes as a ticket."""

_SIGNATURE = 64
_SHORTEST = claims.HEAD.size + _SIGNATURE


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
    key_revoked: bool = False  # with unknown_key: the device holds the key, and holds it revoked


_UNREADABLE = Refusal(Reason.UNREADABLE)
_UNSUPPORTED = Refusal(Reason.UNSUPPORTED_VERSION)


def sign(ticket: Ticket, private_key: Ed25519PrivateKey) -> str:
    """The text to print. Raises InvalidRequest, naming the claim, where one does not fit its place."""
    return as_text(signed_bytes(ticket, private_key))


def signed_bytes(ticket: Ticket, private_key: Ed25519PrivateKey) -> bytes:
    """Head, extensions and signature. Raises InvalidRequest like `sign`."""
    unsigned = claims.to_bytes(ticket)
    return unsigned + private_key.sign(SIGNED_AS + unsigned)


def as_text(signed: bytes) -> str:
    """Signed bytes as they are printed."""
    return PREFIX + base32.encode(signed)


def code_hash(signed: bytes) -> bytes:
    """What a journal keeps of signed bytes: enough to know them again, too little to make them."""
    return sha256(signed).digest()[:16]


def code_hash_of(text: str) -> bytes:
    """By what journals name this code, whoever signed it. Raises Unreadable where it is no code of this version."""
    found = _open(text)
    if isinstance(found, Refusal):
        raise Unreadable("This text is no ticket code that this version knows.")
    return code_hash(found[1])


def read(text: str, ring: KeyRing) -> ReadTicket | Refusal:
    """A ticket to believe or the reason why not, for any text whatever, in bounded time; never raises."""
    found = _open(text)
    if isinstance(found, Refusal):
        return found
    ticket, signed = found
    key = ring.get(ticket.key_id)
    if key is None or key.state is KeyState.REVOKED:
        return Refusal(Reason.UNKNOWN_KEY, ticket, code_hash(signed), key_revoked=key is not None)
    if not _signature_holds(key, signed):
        return Refusal(Reason.BAD_SIGNATURE, ticket, code_hash(signed))
    return ReadTicket(ticket, key.organisation, key.state is KeyState.DISTRUSTED, code_hash(signed))


def _signature_holds(key: TicketKey, signed: bytes) -> bool:
    try:
        key.verifier.verify(signed[-_SIGNATURE:], SIGNED_AS + signed[:-_SIGNATURE])
    except InvalidSignature:
        return False
    return True


def _open(text: str) -> tuple[Ticket, bytes] | Refusal:
    """The claims, not yet believed, and the signed bytes that hold them."""
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
    # Something may follow the signature only where a critical extension announces it, and none is known yet.
    if any(tag & claims.CRITICAL for tag, _ in extensions):
        return _UNSUPPORTED
    if len(raw) != end + _SIGNATURE:
        return _UNREADABLE
    ticket = claims.from_head(raw, extensions)
    return _UNSUPPORTED if ticket is None else (ticket, raw)
