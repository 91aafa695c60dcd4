"""Limits the readers of the streams listener, in all and for each address; gates keep places that nobody else gets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from shared.errors import Unavailable
from sync_server.plumbing.requests.addresses import network_of, tells_apart
from sync_server.waiting.handing_over import ReaderKind

SHARES: Final = {ReaderKind.GATE: 1.0, ReaderKind.BROWSER: 0.9, ReaderKind.VISITOR: 0.8}
"""Up to which share of all places each kind is let in: visitors are refused first, gates last."""


class Places:
    """The places of one listener; used on its loop only."""

    def __init__(self, total: int, per_address: int) -> None:
        self._limits = {kind: max(1, int(total * share)) for kind, share in SHARES.items()}
        self._per_address = per_address
        self._by_address: Counter[str] = Counter()
        self.taken = 0

    @contextmanager
    def taking(self, kind: ReaderKind, address: str) -> Iterator[None]:
        """Take a place for a block; Unavailable (503, Retry-After) where none is left."""
        # A venue's gates share one address with its visitors, and everybody that of a proxy that is not trusted.
        counted = "" if kind is ReaderKind.GATE or not tells_apart(address) else network_of(address)
        if self.taken >= self._limits[kind] or (counted and self._by_address[counted] >= self._per_address):
            raise Unavailable(
                "This server has no room for another live stream. Try again in a few seconds.",
                code="too_many_streams",
                retry_after=5,
            )
        self.taken += 1
        self._by_address[counted] += 1
        try:
            yield
        finally:
            self.taken -= 1
            self._by_address[counted] -= 1
            if not self._by_address[counted]:
                del self._by_address[counted]
