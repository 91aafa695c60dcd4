"""The measures of sending, of one process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

from prometheus_client import CollectorRegistry, Counter, Histogram

from sync_server.plumbing.parts import Parts

_NAME: Final = "webhooks"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Of this process."""

    attempts: Counter
    seconds: Histogram


def share(parts: Parts) -> Outgoing:
    """Make it, once, for the parts of a process."""
    made = parts.local_state[_NAME] = _with_metrics(parts.metrics.registry)
    return made


def outgoing(parts: Parts) -> Outgoing:
    """What was made for these parts."""
    return cast(Outgoing, parts.local_state[_NAME])


def _with_metrics(registry: CollectorRegistry) -> Outgoing:
    return Outgoing(
        Counter("gatehouse_webhook_attempts", "Attempts to deliver to webhooks", ["outcome"], registry=registry),
        Histogram(
            "gatehouse_webhook_seconds",
            "Time that a receiver of a webhook took",
            registry=registry,
            buckets=(0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30),
        ),
    )
