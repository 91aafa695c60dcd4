"""Generates docs/facts/webhooks.json, the JSON Schema of every fact as webhooks post it, from the catalogue."""

from __future__ import annotations

import json

from sync_server.outbox.catalogue import FACTS
from sync_server.outbox.fact_schemas import outside_schema

FILE = "docs/facts/webhooks.json"


def text() -> str:
    """The whole file: an object of schemas by name, one per line."""
    lines = (f"{json.dumps(name)}: {json.dumps(outside_schema(name), ensure_ascii=False)}" for name in FACTS)
    return "{\n" + ",\n".join(lines) + "\n}\n"
