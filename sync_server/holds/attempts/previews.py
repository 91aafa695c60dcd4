"""Limits how often one guest, or one client address, may ask which seats a group would get."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Final

from shared.errors import TooMany
from sync_server.holds.attempts.hold_request import HoldRequest
from sync_server.plumbing.requests.addresses import tells_apart

WINDOW_MS: Final = 60_000
PER_BEARER: Final = 30
PER_ADDRESS: Final = 300
"""Within a minute and in each process: a preview costs a search, and nothing is kept of it."""


class PreviewRate:
    """Counts previews of the present minute."""

    def __init__(self) -> None:
        self._lock, self._minute, self._counts = threading.Lock(), 0, Counter[tuple[str, str]]()

    def require(self, request: HoldRequest) -> None:
        """Count a preview; TooMany beyond the limits."""
        keys = {(request.organisation_id, request.id): PER_BEARER}
        if tells_apart(request.address):
            keys[request.organisation_id, request.origin] = PER_ADDRESS
        with self._lock:
            minute = request.now // WINDOW_MS
            if minute != self._minute:
                self._minute = minute
                self._counts.clear()
            self._counts.update(keys.keys())
            beyond = any(self._counts[key] > limit for key, limit in keys.items())
        if beyond:
            left = WINDOW_MS - request.now % WINDOW_MS
            raise TooMany("You are asking for previews too often. Wait a little.", retry_after=-(-left // 1000))
