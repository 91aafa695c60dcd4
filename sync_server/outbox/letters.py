"""How a fact looks on the broker: its exchange, its routing key, its envelope."""

from __future__ import annotations

from typing import Any, Final

import orjson

from sync_server.outbox.catalogue import version_of
from sync_server.outbox.rules import routing_key
from sync_server.plumbing.work import Message

EXCHANGE: Final = "gatehouse.facts"
CONTENT_TYPE: Final = "application/json"
PERSISTENT: Final = 2


def envelope(message: Message) -> bytes:
    """What consumers read."""
    told: dict[str, Any] = {
        "fact": message.name,
        "version": version_of(message.name),
        "message_id": message.message_id,
        "organisation_id": message.organisation_id,
        "at": message.at,
        "order": message.order,
        "subjects": message.subjects,
        "payload": message.payload,
    }
    return orjson.dumps(told)


def properties(message: Message) -> dict[str, Any]:
    """What the broker itself looks at, and what consumers need to sort and to skip."""
    return {
        "app_id": "gatehouse",
        "content_type": CONTENT_TYPE,
        "delivery_mode": PERSISTENT,
        "message_id": message.message_id,
        "timestamp": message.at // 1000,
        "type": message.name,
        "headers": {"version": version_of(message.name), "stream": message.stream, "order": message.order},
    }


def key(message: Message) -> str:
    """Where it goes."""
    return routing_key(message.name)
