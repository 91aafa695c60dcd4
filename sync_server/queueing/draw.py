"""The draw: puts those who waited before the opening into an order that everybody can recompute.

An entry is 16 random bytes. Published before anybody joins: the hash of a seed. At the opening: the root of the Merkle
tree over all entries (RFC 9162, sorted by their bytes). Then the seed, and where one was named beforehand, the value of
a public random round. The order is that of SHA-256 over seed, root, hash of that value, and entry.
`scripts/verify_draw.py` does the same without this program.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

SEED_BYTES: Final = 32
_COMMITMENT: Final = b"gatehouse draw seed\0"
_LEAF, _NODE = b"\0", b"\1"


@dataclass(frozen=True, slots=True)
class ProofStep:
    """One step from an entry to the root: the hash beside it, and on which side."""

    left: bool
    hash: bytes


def commitment(seed: bytes) -> bytes:
    """What is published of a seed before anybody joins."""
    return sha256(_COMMITMENT + seed).digest()


class Tree:
    """The Merkle tree over entries that are sorted already."""

    def __init__(self, entries: Sequence[bytes]) -> None:
        self._entries = entries
        self._levels = [[sha256(_LEAF + entry).digest() for entry in entries]]
        while len(self._levels[-1]) > 1:
            self._levels.append(_next_level(self._levels[-1]))

    @property
    def root(self) -> bytes:
        """What stands for all entries: another set has another root."""
        return self._levels[-1][0] if self._entries else sha256().digest()

    def proof(self, entry: bytes) -> list[ProofStep]:
        """What proves that an entry is among them; ValueError where it is not."""
        at, steps = bisect_left(self._entries, entry), []
        if at == len(self._entries) or self._entries[at] != entry:
            raise ValueError("not in this tree")
        for level in self._levels:
            if at ^ 1 < len(level):
                steps.append(ProofStep(at % 2 == 1, level[at ^ 1]))
            at //= 2
        return steps


def _next_level(level: Sequence[bytes]) -> list[bytes]:
    pairs = zip(level[::2], level[1::2], strict=False)
    above = [sha256(_NODE + left + right).digest() for left, right in pairs]
    return above + list(level[-1:]) if len(level) % 2 else above


def proves(entry: bytes, steps: Sequence[ProofStep], expected: bytes) -> bool:
    """Whether these steps lead from the entry to that root."""
    value = sha256(_LEAF + entry).digest()
    for step in steps:
        value = sha256(_NODE + (step.hash + value if step.left else value + step.hash)).digest()
    return value == expected


def order(entries: Sequence[bytes], seed: bytes, tree_root: bytes, beacon: str) -> list[bytes]:
    """The entries in the order in which they are served; `beacon` is empty where no public round was named."""
    prefix = sha256(seed + tree_root + sha256(beacon.encode()).digest())

    def key(entry: bytes) -> bytes:
        hashed = prefix.copy()
        hashed.update(entry)
        return hashed.digest()

    return sorted(entries, key=key)
