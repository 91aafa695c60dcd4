"""How long to wait before a retry: for gate sync, the outbox and all other retries."""

from __future__ import annotations

_DOUBLINGS = 32


def delays(attempt: int, *, base_ms: int, cap_ms: int, jitter: float) -> int:
    """Milliseconds to wait after `attempt` earlier retries (0 before the first): doubles up to the cap.

    Half is fixed and half is random: `jitter` in [0, 1) comes from the caller, so that a thousand gates do not all
    reconnect at the same moment.
    """
    full = min(cap_ms, base_ms << min(max(attempt, 0), _DOUBLINGS))
    return int(full / 2 + full / 2 * jitter)
