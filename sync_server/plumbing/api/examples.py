"""Examples for the description of the API, made from its schemas: the same concert everywhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from sync_server.plumbing.api.one_line import ONE_LINE

_ID: Final = "0197f6a2-6c00-7d3e-9b1a-5c2f8e4d7a10"
_IMAGE: Final = "3f6c1d0e9b8a7f6e5d4c3b2a1908f7e6d5c4b3a2"
_TIME: Final = "2027-07-04T18:00:00Z"
_BY_NAME: Final[Mapping[str, Any]] = {
    "address": "Hafenstraße 1, 20457 Hamburg",
    "alt": "A choir on a lit quay at night",
    "category": "Choir",
    "city": "Hamburg",
    "confirmation_code": "7KQ4MZXB",
    "consent": "All guests were asked and agreed",
    "country": "DE",
    "currency": "EUR",
    "date": "2027-07-04",
    "description": "Choirs by night, on the quay.",
    "email": "ada@marquee.example",
    "end_at": "2027-07-05T00:00:00Z",
    "etag": "5d41402abc4b2a76b9719d91",
    "fact": "event_published",
    "facts": ["event.*", "tickets_issued"],
    "holder_name": "Ada Lovelace",
    "ip": "203.0.113.7",
    "latitude": 53.54,
    "longitude": 9.98,
    "name": "Night Music",
    "note": "Talked to the guest",
    "number": 7,
    "password": "correct horse battery staple",
    "pin": "739164",
    "price_cents": 3500,
    "quantity": 500,
    "reason": "Storm warning",
    "row": "A",
    "seat_id": "A-1",
    "seat_ids": ["A-1", "A-2"],
    "section": "Stalls",
    "slug": "night-music",
    "status": "published",
    "ticket": "9f86d081884c7d65",
    "timezone": "Europe/Berlin",
    "token": "ght_example",
    "url": "/images/3f6c1d0e9b8a7f6e5d4c3b2a1908f7e6d5c4b3a2/1600.jpg",
    "venue_name": "Harbour Hall",
    "website": "https://marquee.example",
}
_WITH_PATTERNS: Final = ("A", "NIGHT7", "7KQ4MZXB", _ID, "9f86d081884c7d65", _IMAGE, "9f86d081884c7d65" * 4)
"""Where the schema has a pattern, the first of these that matches."""
_BODIES: Final[Mapping[str, Any]] = {
    "BankFile": {"format": "camt.053", "content": "<Document>…</Document>"},
    "ConfirmBankFile": {
        "format": "camt.053",
        "content": "<Document>…</Document>",
        "entries_to_note": [{"reference": "2027070400017"}],
    },
    "ChangeEvent": {"description": "Choirs by night, on the quay.", "doors_at": "2027-07-04T17:00:00Z"},
    "ChooseBadge": {"ready_made": "badge"},
    "ChangeDesign": {"colour": "#0f766e"},
    "ChangeTicketType": {"quantity": 600},
    "ChangeVenue": {"address": "Hafenstraße 1, 20457 Hamburg"},
    "HoldBody": {"best": 2},
    "PreviewBody": {"best": 2},
    "IssueTickets": {"ticket_type": 1, "count": 2},
    "NewTicketBatch": {},
    "ChangeWebhook": {"active": True},
    "NewEvent": {
        "venue_id": _ID,
        "name": "Night Music",
        "description": "Choirs by night, on the quay.",
        "start_at": _TIME,
        "end_at": "2027-07-05T00:00:00Z",
    },
    "NewSeries": {"weekdays": ["fr", "sa"], "count": 8},
    "NewBatch": {"kind": "discount", "name": "Newsletter", "codes": 200, "percent": 10},
    "NewWebhook": {"url": "https://shop.example.org/gatehouse", "facts": ["event.*", "tickets_issued"]},
    "PickedSeats": {"seat_ids": ["A-1", "A-2"]},
    "WantedSeats": {"size": 2},
}
"""Bodies in which some fields exclude others, or of which few are usual."""
_DEEPEST: Final = 6


def body_example(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Any:
    """A request body: what must be in it, or one field where nothing must."""
    name = schema.get("$ref", "").rpartition("/")[2]
    if name in _BODIES:
        return _BODIES[name]
    whole = schemas.get(name, schema)
    fields = whole.get("properties", {})
    wanted = whole.get("required") or list(fields)[:1]
    return {field: example(fields[field], schemas, field) for field in wanted}


def example(schema: Mapping[str, Any], schemas: Mapping[str, Any], name: str = "", depth: int = 0) -> Any:
    """A value that fits the schema, by the name of its field where that says more than its type."""
    if "$ref" in schema:
        return example(schemas[schema["$ref"].rpartition("/")[2]], schemas, name, depth)
    if schema.get("enum"):
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            full = [one for one in schema[several] if one.get("type") != "null"]
            if depth >= _DEEPEST and len(full) < len(schema[several]):
                return None
            return example(full[0], schemas, name, depth)
    if name in _BY_NAME and _fits(_BY_NAME[name], schema):
        return _BY_NAME[name]
    return _of_type(schema, schemas, name, depth)


def _of_type(schema: Mapping[str, Any], schemas: Mapping[str, Any], name: str, depth: int) -> Any:
    match schema.get("type"):
        case "object":
            fields = schema.get("properties", {})
            return {each: example(one, schemas, each, depth + 1) for each, one in fields.items() if depth < _DEEPEST}
        case "array":
            return _items(schema, schemas, name, depth)
        case "integer" | "number":
            return schema.get("default") or max(schema.get("minimum", 1), min(schema.get("maximum", 1), 1))
        case "boolean":
            return bool(schema.get("default"))
        case "string":
            return _text(schema, name)
        case "null":
            return None
    return {}


def _items(schema: Mapping[str, Any], schemas: Mapping[str, Any], name: str, depth: int) -> list[Any]:
    if "prefixItems" in schema:
        return [example(one, schemas, name, depth + 1) for one in schema["prefixItems"]]
    one = example(schema.get("items", {}), schemas, name.removesuffix("s"), depth + 1)
    return [one] * max(1, schema.get("minItems", 1)) if depth < _DEEPEST else []


def _text(schema: Mapping[str, Any], name: str) -> str:
    if schema.get("format") == "date":
        return "2027-07-04"
    if schema.get("format") == "date-time" or name.endswith(("_at", "since", "as_of", "until")) or name == "at":
        return _TIME
    pattern = schema.get("pattern", ONE_LINE)
    matching = [text for text in _WITH_PATTERNS if re.search(pattern, text)]
    if matching and pattern != ONE_LINE:
        return matching[0]
    if name == "code":
        return "A" if schema.get("minLength", 0) < 2 else "7KQ4MZXB"
    if name.endswith(("id", "ids", "_by")):
        return _ID
    return str(schema.get("default") or "night-music"[: schema.get("maxLength", 60)])


def _text_fits(text: str, schema: Mapping[str, Any]) -> bool:
    long_enough = schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", 10_000)
    return long_enough and "format" not in schema and bool(re.search(schema.get("pattern", ""), text))


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    kinds = {str: "string", int: "integer", float: "number", list: "array"}
    if isinstance(value, str) and not _text_fits(value, schema):
        return False
    return schema.get("type") == kinds[type(value)]
