"""Takes single facts out of the JSON objects that the gate prints; what is missing or odd is simply not shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Facts = Mapping[str, object]
"""A JSON object as the gate prints it: the line of `scan`, or of `status --json`."""


def words(facts: Facts, key: str) -> str:
    """The text under a key; nothing where there is nothing."""
    value = facts.get(key)
    return "" if value is None else str(value)


def mapping(value: object) -> Facts:
    return value if isinstance(value, Mapping) else {}


def sequence(value: object) -> Sequence[object]:
    return value if isinstance(value, Sequence) and not isinstance(value, str | bytes) else ()


def number(facts: Facts, key: str) -> float | None:
    value = facts.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
