"""Reads fields of the JSON objects that the gate prints; missing or odd values count as empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

JsonObject = Mapping[str, object]
"""A JSON object as printed by `scan` or `status --json`."""


def text(fields: JsonObject, key: str) -> str:
    """The text under a key; empty if there is none."""
    value = fields.get(key)
    # A message stays one, so that it can be said in another language.
    return value if isinstance(value, str) else "" if value is None else str(value)


def mapping(value: object) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def sequence(value: object) -> Sequence[object]:
    return value if isinstance(value, Sequence) and not isinstance(value, str | bytes) else ()


def number(fields: JsonObject, key: str) -> float | None:
    value = fields.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
