"""JSON schemas of the values that several facts have in their payload or subjects."""

from __future__ import annotations

from typing import Final

from sync_server.outbox.fact_kinds import Schema

TEXT: Final[Schema] = {"type": "string"}
ID: Final[Schema] = {"type": "string", "maxLength": 36}
NUMBER: Final[Schema] = {"type": "integer"}
MILLIS: Final[Schema] = {"type": ["integer", "null"], "description": "milliseconds since 1970, UTC"}
MARK: Final[Schema] = {
    "enum": ["cancelled", "postponed", "rescheduled", None],
    "description": "after: how the event does not take place as announced; null: it does",
}
FIELDS: Final[Schema] = {"type": ["object", "null"], "description": "fields by name"}
SEATS: Final[Schema] = {"type": "array", "items": {"type": "integer"}, "description": "numbers in the layout"}
SEAT_ID: Final[Schema] = {
    "type": ["string", "null"],
    "description": "the seat's id in the layout; null for places without seats",
}
STRINGS: Final[Schema] = {"type": "array", "items": {"type": "string"}}
DAYS: Final[Schema] = {**STRINGS, "description": "dates, at an event of several days", "default": []}
