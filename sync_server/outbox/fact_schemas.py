"""The JSON Schema of each fact, from its row in the catalogue: as the broker gets it, and as outsiders do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from sync_server.outbox.catalogue import FACTS, routing_key
from sync_server.outbox.fact_kinds import FactKind, Schema
from sync_server.outbox.payload_schemas import ID

INSIDE: Final = frozenset({"bearer", "created_by", "owner_id", "reason", "settings", "supervisor"})
"""Fields of payloads that stay within the installation and its broker: who it was and why, and unchecked texts."""


def for_outsiders(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A payload, or its schema, as whoever gets an organisation's facts by the internet may see it."""
    return {name: _without_inside(value) for name, value in payload.items() if name not in INSIDE}


def _without_inside(value: Any) -> Any:
    if isinstance(value, Mapping):
        return for_outsiders(value)
    return [_without_inside(each) for each in value] if isinstance(value, list) else value


def outside_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a fact as outsiders get it."""
    kind = FACTS[name]
    return _about(name) | _object(_envelope(name, replace(kind, payload=for_outsiders(kind.payload))))


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a fact's broker message; consumers must ignore unknown fields."""
    kind = FACTS[name]
    return _about(name) | _object(_envelope(name, kind)) | {"x-effects": kind.effects()}


def _about(name: str) -> dict[str, Any]:
    kind = FACTS[name]
    return {"title": f"{routing_key(name)} v{kind.version}", "description": kind.description}


def _envelope(name: str, kind: FactKind) -> dict[str, Schema]:
    return {
        "fact": {"const": name},
        "version": {"const": kind.version},
        "message_id": {**ID, "description": "the same however often the message is delivered"},
        "organisation_id": ID,
        "at": {"type": "integer", "description": "milliseconds since 1970, UTC"},
        "order": {"type": "integer", "description": "rises within an event in the order of what happened"},
        "subjects": _object(kind.subjects),
        "payload": _object(kind.payload),
    }


def _object(fields: Mapping[str, Schema]) -> dict[str, Any]:
    required = [name for name, schema in fields.items() if "default" not in schema]
    return {"type": "object", "properties": dict(fields), "required": required}
