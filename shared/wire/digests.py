"""The digest of a set of rows: an order-independent sum by which a gate checks what it holds."""

from __future__ import annotations

from hashlib import blake2b

from shared.wire.rows import Row

EMPTY_DIGEST = bytes(16)
"""The digest of no rows."""

_MODULUS = 1 << 128
_SEED = blake2b(digest_size=16, person=b"gatehouse:row:1")


def row_hash(row: Row) -> int:
    """BLAKE2b-128 over kind (1 byte), key (8 bytes) and body; 0 for a deleted row."""
    if row.body is None:
        return 0
    state = _SEED.copy()
    state.update((row.kind << 64 | row.key).to_bytes(9, "big") + row.body)
    return int.from_bytes(state.digest(), "big")


def digest_add(digest: bytes, *rows: Row) -> bytes:
    """The digest with these rows added."""
    return _moved(digest, sum(map(row_hash, rows)))


def digest_remove(digest: bytes, *rows: Row) -> bytes:
    """The digest with these rows removed."""
    return _moved(digest, -sum(map(row_hash, rows)))


def _moved(digest: bytes, by: int) -> bytes:
    return ((int.from_bytes(digest, "big") + by) % _MODULUS).to_bytes(16, "big")
