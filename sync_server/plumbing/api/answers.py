"""Describes answers that are no JSON of ours: files, streams and bits."""

from __future__ import annotations

from typing import Any, Final

Responses = dict[int | str, dict[str, str | dict[str, dict[str, Any]]]]
"""As the framework takes them, by status."""
EVENT_STREAM: Final = "text/event-stream"
JSON: Final = "application/json"
_FILE: Final = {"type": "string", "format": "binary"}
NOT_MODIFIED: Final[Responses] = {304: {"description": "Not modified"}}


def text(says: str, media_type: str) -> Responses:
    """An answer of text."""
    return {200: {"description": says, "content": {media_type: {"schema": {"type": "string"}}}}}


def stream(says: str) -> Responses:
    """Server-sent events; `says` names them."""
    return text(f"Server-sent events: {says}", EVENT_STREAM)


def files(says: str, *media_types: str) -> Responses:
    """An answer in one of these types, besides the one that is declared as output."""
    content = {one: {"schema": _FILE if one != JSON else {"type": "object"}} for one in media_types}
    return {200: {"description": says, "content": content}}
