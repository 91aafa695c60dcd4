"""What is sent to the desk and answered: fields of any kind become what they should be, or an error in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gate_app.journal.lines import clean, entry_line
from gate_app.words import say
from shared.errors import InvalidRequest
from shared.journal.scans import Entry

Fields = Mapping[str, Any]
Answer = dict[str, Any]


def done(entry: Entry, words: str) -> Answer:
    return {"entry": entry_line(entry), "message": words}


def text_of(fields: Fields, name: str) -> str:
    value = fields.get(name)
    return clean(value).strip() if isinstance(value, str) else ""


def number_of(fields: Fields, name: str) -> int:
    value = fields.get(name)
    if type(value) is not int or not 0 < value < 2**62:
        raise InvalidRequest(say("desk.no_ticket"), code="number_missing")
    return value


def hexadecimal(text: str) -> int:
    try:
        return int(text, 16) if len(text) <= 16 else 0
    except ValueError:
        return 0


def direction_of(fields: Fields) -> str | None:
    return {"entry": "entry", "exit": "exit"}.get(text_of(fields, "direction"))
