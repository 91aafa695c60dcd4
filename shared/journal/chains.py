"""The hash chain that binds a journal's entries together, and the device's signature over its head."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from struct import pack

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from shared.errors import Unreadable
from shared.journal.journal_entries import Entry, EntryKind, decode, entry_hash

_HEAD_DOMAIN = b"gatehouse:head:1\x00"


@dataclass(frozen=True, slots=True)
class ChainReport:
    """How much of a chain is intact; `broken_at` is the first sequence number that does not fit."""

    entries: int
    ok: bool
    broken_at: int | None
    head: bytes  # the hash of the last entry that fits


def head_message(device: int, branch: int, seq: int, head: bytes) -> bytes:
    """The bytes a device signs to vouch for everything up to `seq`."""
    return _HEAD_DOMAIN + pack(">IIQ", device, branch, seq) + head


def sign_head(key: Ed25519PrivateKey, device: int, branch: int, seq: int, head: bytes) -> bytes:
    """The device's signature over its journal up to `seq`, 64 bytes."""
    return key.sign(head_message(device, branch, seq, head))


def verify_head(  # noqa: PLR0917 - what sign_head takes, and the signature
    public: Ed25519PublicKey,
    signature: bytes,
    device: int,
    branch: int,
    seq: int,
    head: bytes,
) -> bool:
    """Whether the device signed this head."""
    try:
        public.verify(signature, head_message(device, branch, seq, head))
    except InvalidSignature:
        return False
    return True


def follows(entry: Entry, seq: int) -> bool:
    """Whether the entry may follow `seq`: as the next one, or behind a complete declared gap."""
    if entry.seq == seq + 1:
        return True
    lost = (entry.details.get("first"), entry.details.get("last"))
    return entry.kind == EntryKind.GAP and lost == (seq + 1, entry.seq - 1)


def gap_of(entry: Entry) -> tuple[int, int] | None:
    """The first and last number that a gap entry declares lost; None for any other entry."""
    first, last = entry.details.get("first"), entry.details.get("last")
    if entry.kind != EntryKind.GAP or type(first) is not int or type(last) is not int:
        return None
    return (first, last) if 0 < first <= last < entry.seq else None


def check_chain(bodies: Iterable[bytes], previous: bytes) -> ChainReport:
    """Checks the bodies of one branch in order from the hash `previous`, up to the first that does not fit."""
    count, seq, head = 0, None, previous
    for body in bodies:
        try:
            entry = decode(body)
        except Unreadable:
            return ChainReport(count, False, None if seq is None else seq + 1, head)
        if entry.previous != head or (seq is not None and not follows(entry, seq)):
            return ChainReport(count, False, entry.seq, head)
        count, seq, head = count + 1, entry.seq, entry_hash(body)
    return ChainReport(count, True, None, head)
