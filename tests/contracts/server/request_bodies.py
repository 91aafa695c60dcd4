"""Makes a minimal valid body for every route, from the server's OpenAPI document."""

from __future__ import annotations

from typing import Any

from tests.builders import EVENING, HOUR

#: Values for fields whose schema alone does not determine a valid one.
VALUES: dict[str, Any] = {
    "start_at": EVENING + 30 * HOUR,
    "since": EVENING,
    "end_at": EVENING + 36 * HOUR,
    "rescheduled_at": EVENING + 300 * HOUR,
    "timezone": "Europe/Berlin",
    "email": "somebody@marquee.example",
    "password": "a long enough one",
    "pin": "271828",
    "url": "https://shop.example.org/gatehouse",
    "facts": ["event.*"],
    "scopes": ["manage_tokens"],  # nobody may grant scopes that they lack
    "role": "staff",
    "slug": "another-slug",
    "code": "ZZ",
    "hold_id": "01a1ee93-a800-767b-ae97-80dab5121243",
    "layout_id": "01a1ee93-a800-767b-ae97-80dab5121243",
}
#: Bodies of routes that require one of several fields.
WHOLE_BODIES: dict[str, Any] = {
    "/api/events/{event_id}/ticket-types/{number}/badge": {"ready_made": "badge"},
    "/api/events/{event_id}/tickets": {"ticket_type": 1, "count": 1},
    "/api/events/{event_id}/sales": {"places": [{"ticket_type": 1, "count": 1}], "method": "cash"},
    "/api/events/{event_id}/holds": {"count": 1},
    "/api/events/{event_id}/holds/preview": {"best": 1},
    "/api/events/{event_id}/code-batches": {"kind": "discount", "name": "Newsletter", "percent": 10},
    "/api/bank-files/preview": {
        "format": "csv",
        "content": "Amount;Date;Text\n1,00;1 July;none\n",
        "columns": {"amount": "Amount", "date": "Date", "text": ["Text"], "reference": "Text"},
    },
    "/api/bank-files": {
        "format": "csv",
        "content": "Amount;Date;Text\n1,00;1 July;none\n",
        "columns": {"amount": "Amount", "date": "Date", "text": ["Text"], "reference": "Text"},
        "entries_to_note": [{"reference": "none"}],
    },
    "/api/retention": {"days": {"names": 14}},
    "/api/people/export": {"email": "nobody@marquee.example"},
    "/api/people/erase": {"email": "nobody@marquee.example", "reason": "asked for"},
    "/api/events/{event_id}/layout/moved-guests": {"ticket": "00000000000000ff", "seat_id": "A-1"},
    "/api/events/{event_id}/series": {"every_days": 7, "count": 1},
}


class Bodies:
    """Makes request bodies from an OpenAPI document."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def body(self, path: str, method: str, ids: dict[str, str]) -> Any:
        """A body with the required fields, using the given ids; None for a route without a body."""
        operation = self._document["paths"].get(path, {}).get(method.lower(), {})
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        return WHOLE_BODIES.get(path) or (self._value("", content["schema"], ids) if content else None)

    def query(self, path: str, method: str, ids: dict[str, str]) -> dict[str, Any]:
        """The required query parameters."""
        operation = self._document["paths"].get(path, {}).get(method.lower(), {})
        required = [one for one in operation.get("parameters", ()) if one["in"] == "query" and one.get("required")]
        return {one["name"]: self._value(one["name"], one["schema"], ids) for one in required}

    def _value(self, name: str, schema: dict[str, Any], ids: dict[str, str]) -> Any:
        if "$ref" in schema:
            return self._value(name, self._named(schema["$ref"]), ids)
        if name in ids:
            return ids[name]
        if name in VALUES:
            return VALUES[name]
        if "enum" in schema or "const" in schema:
            return schema.get("const", (schema.get("enum") or [None])[0])
        for one in ("anyOf", "oneOf", "allOf"):
            if one in schema:
                return self._value(name, schema[one][0], ids)
        return self._plain(name, schema, ids)

    def _plain(self, name: str, schema: dict[str, Any], ids: dict[str, str]) -> Any:
        kind = schema.get("type")
        if kind == "object" or "properties" in schema:
            fields = schema.get("properties", {})
            required = schema.get("required", [])
            return {field: self._value(field, fields[field], ids) for field in required if field in fields}
        if kind == "array":
            return [self._value(name.rstrip("s"), schema["items"], ids)] * schema.get("minItems", 0)
        if kind in {"integer", "number"}:
            return max(schema.get("minimum", 1), 1)
        return {"boolean": False, "string": "x" * max(schema.get("minLength", 1), 3)}.get(str(kind))

    def _named(self, ref: str) -> dict[str, Any]:
        found: Any = self._document
        for step in ref.removeprefix("#/").split("/"):
            found = found[step]
        return dict(found)
