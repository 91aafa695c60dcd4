"""Makes docs/facts.md from facts.head.md, the catalogue of facts, and what their delivery is made of."""

from __future__ import annotations

from pathlib import Path

from sync_server.outbox import consumer, joins, letters, relay, rules
from sync_server.outbox.catalogue import FACTS, Kind
from sync_server.outbox.leases import LEASE_MS

FILE = "docs/facts.md"

HEAD = Path(__file__).with_name("facts.head.md")


def text() -> str:
    """The whole page."""
    head = HEAD.read_text(encoding="utf-8").format(
        lease_s=LEASE_MS // 1000,
        dead_after=rules.DEAD_AFTER,
        hours=_longest_way_ms() / 3_600_000,
        kept_days=relay.KEPT_MS // 86_400_000,
        exchange=letters.EXCHANGE,
        queue=consumer.QUEUE,
        dead_queue=consumer.DEAD_QUEUE,
        keys=" and ".join(f"`{key}`" for key in joins.STEPS),
        prefetch=consumer.PREFETCH,
        tries=consumer.MOST_TRIES,
        batch=relay.BATCH,
        burst=relay.BURST,
    )
    return head + "".join(_row(name, kind) for name, kind in FACTS.items())


def _longest_way_ms() -> int:
    """From the first failure to the last, with pauses of the middle length."""
    return sum(rules.pause(attempt, 0.5) for attempt in range(1, rules.DEAD_AFTER))


def _row(name: str, kind: Kind) -> str:
    names, carries = (", ".join(f"`{field}`" for field in fields) for fields in (kind.subjects, kind.payload))
    version = "" if kind.version == 1 else f" v{kind.version}"
    return f"| `{name}`{version} | `{rules.routing_key(name)}` | {names} | {carries} | {kind.says} |\n"
