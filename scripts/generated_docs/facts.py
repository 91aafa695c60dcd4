"""Generates docs/facts.md from facts.head.md, the catalogue of facts and the constants of their delivery."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sync_server.outbox import cleaning, relay, rules
from sync_server.outbox.broker import consumer, joins
from sync_server.outbox.broker import messages as broker_messages
from sync_server.outbox.catalogue import FACTS, routing_key
from sync_server.outbox.cursors import LEASE_MS
from sync_server.outbox.fact_kinds import FactKind

FILE = "docs/facts.md"

HEAD = Path(__file__).with_name("facts.head.md")


def text() -> str:
    """The whole page."""
    head = HEAD.read_text(encoding="utf-8").format(
        lease_s=LEASE_MS // 1000,
        dead_after=rules.DEAD_AFTER,
        hours=_retry_period_ms() / 3_600_000,
        kept_days=cleaning.RETENTION_MS // 86_400_000,
        exchange=broker_messages.EXCHANGE,
        queue=consumer.QUEUE,
        dead_queue=consumer.DEAD_QUEUE,
        keys=" and ".join(f"`{key}`" for key in joins.STEPS),
        prefetch=consumer.PREFETCH,
        tries=consumer.MAX_ATTEMPTS,
        batch=relay.BATCH,
        look_s=relay.LOOK_EVERY_MS // 1000,
    )
    return head + "".join(_row(name, kind) for name, kind in FACTS.items())


def _retry_period_ms() -> int:
    """Time from the first failure to the last, with average pauses."""
    return sum(rules.pause(attempt, 0.5) for attempt in range(1, rules.DEAD_AFTER))


def _row(name: str, kind: FactKind) -> str:
    version = "" if kind.version == 1 else f" v{kind.version}"
    cells = (
        f"`{name}`{version}",
        kind.group.value,
        f"`{routing_key(name)}`",
        _fields(kind.subjects),
        _fields(kind.payload),
        ", ".join(sorted(kind.topics)),
        _fields(kind.organisers) + (" (visitors too)" if kind.public else ""),
        kind.seats.value,
        "changes" if kind.occupancy else "",
        _fields(kind.told) if kind.logged is None else _fields(kind.logged) or "ids",
        kind.description,
    )
    return f"| {' | '.join(cells)} |\n"


def _fields(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
