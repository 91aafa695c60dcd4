"""What is published to the broker for a fact: exchange, routing key, properties and body."""

from __future__ import annotations

from typing import Any, Final

import orjson

from shared.trace import HEADER
from sync_server.outbox.catalogue import routing_key, version_of
from sync_server.plumbing.jobs import Message

EXCHANGE: Final = "gatehouse.facts"
CONTENT_TYPE: Final = "application/json"
PERSISTENT: Final = 2


def envelope(message: Message) -> bytes:
    """The message body."""
    body: dict[str, Any] = {
        "fact": message.name,
        "version": version_of(message.name),
        "message_id": message.message_id,
        "organisation_id": message.organisation_id,
        "at": message.at,
        "order": message.order,
        "subjects": message.subjects,
        "payload": message.payload,
    }
    return orjson.dumps(body)


def properties(message: Message) -> dict[str, Any]:
    """AMQP properties; the headers let consumers keep order and skip what they have seen."""
    return {
        "app_id": "gatehouse",
        "content_type": CONTENT_TYPE,
        "delivery_mode": PERSISTENT,
        "message_id": message.message_id,
        "timestamp": message.at // 1000,
        "type": message.name,
        "headers": _headers(message),
    }


def _headers(message: Message) -> dict[str, Any]:
    headers = {"version": version_of(message.name), "stream": message.stream, "order": message.order}
    return headers | ({HEADER: message.trace} if message.trace else {})


def key(message: Message) -> str:
    """The routing key."""
    return routing_key(message.name)
