"""Texts of requests are one line unless their type says `SEVERAL_LINES`: names stand in subjects and on tickets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pydantic import GetCoreSchemaHandler

ONE_LINE: Final = r"^[^\t\n\r]*$"
"""Other characters that end a line, or cannot be displayed, are refused everywhere (`storable_json`)."""
_MARK: Final = "several_lines"


class SeveralLines:
    """Marks a type of text that people write in several lines, or that is stored as sent."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        """The type's own schema, marked."""
        schema = handler(source)
        for text in _texts(schema):
            text["metadata"] = {**text.get("metadata", {}), _MARK: True}
        return schema


SEVERAL_LINES: Final = SeveralLines()


def require_one_line(schema: Any) -> Any:
    """The schema of a request, whose validator refuses what is not one line; texts with a pattern have decided it."""
    for field in _fields(schema):
        for text in _texts(field["schema"]):
            if "pattern" not in text and _MARK not in text.get("metadata", {}):
                text["pattern"] = ONE_LINE
    return schema


def _fields(schema: Any) -> Iterator[Any]:
    while schema["type"] != "model-fields":
        if "schema" not in schema:
            return  # a reference to a model that is described elsewhere
        schema = schema["schema"]
    yield from schema["fields"].values()


def _texts(schema: Any) -> Iterator[Any]:
    """The texts within a field: its own, those of a list and the values of an object; not those of another model."""
    if schema["type"] == "str":
        yield schema
        return
    if schema["type"] == "model":
        return
    for part in ("schema", "items_schema", "values_schema"):
        if isinstance(inner := schema.get(part), dict):
            yield from _texts(inner)
    for choice in schema.get("choices", ()) if schema["type"] == "union" else ():
        yield from _texts(choice[0] if isinstance(choice, tuple) else choice)
