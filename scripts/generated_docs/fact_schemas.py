"""Generates docs/facts/schemas.json, the JSON Schema of every fact's message, from the catalogue of facts."""

from __future__ import annotations

import json

from sync_server.outbox.catalogue import FACTS, routing_key
from sync_server.outbox.fact_schemas import schema

FILE = "docs/facts/schemas.json"


def text() -> str:
    """The whole file: an object of schemas by routing key, one per line."""
    lines = (f"{json.dumps(routing_key(name))}: {json.dumps(schema(name), ensure_ascii=False)}" for name in FACTS)
    return "{\n" + ",\n".join(lines) + "\n}\n"
