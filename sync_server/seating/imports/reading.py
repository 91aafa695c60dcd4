"""Reads a file into a plan, whatever its format."""

from __future__ import annotations

from pydantic import ValidationError

from sync_server.seating import schemas
from sync_server.seating.file_formats.formats import FORMATS
from sync_server.seating.layouts.mistakes import Mistakes
from sync_server.seating.layouts.reading import ReadPlan


def read_plan(body: bytes, file_format: str, name: str) -> ReadPlan:
    """The layout in a file, with the mistakes found so far. `name` is for formats that do not contain one."""
    if file_format != "gatehouse":
        return FORMATS[file_format].read(body, name)
    try:
        return ReadPlan(schemas.LayoutShape.model_validate_json(body).plan())
    except ValidationError as error:
        mistakes = Mistakes()
        for problem in error.errors(include_url=False, include_input=False):
            mistakes.add(".".join(map(str, problem["loc"])) or "the file", problem["msg"])
        mistakes.stop()
        raise
