"""How long tests wait for a service that answers late because the machine is busy."""

from __future__ import annotations

from typing import Final

from sync_server.plumbing import redis_connection

__all__ = ["REAL_REDIS_TIMEOUT_S", "wait_longer_for_redis"]

REAL_REDIS_TIMEOUT_S: Final = redis_connection.TIMEOUT_S
"""The product's own, for tests in which Redis hangs."""


def wait_longer_for_redis() -> None:
    """The product does without a Redis that is slow for a moment; a test of what Redis shares cannot."""
    redis_connection.TIMEOUT_S = 10
