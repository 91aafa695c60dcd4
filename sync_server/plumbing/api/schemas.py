"""Base classes and field types of request and response schemas; unknown fields are refused."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)

from sync_server.plumbing.api.one_line import SEVERAL_LINES, require_one_line

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLIS_OF_YEAR_9999 = 253_370_764_800_000


class RequestBody(BaseModel):
    """A request body: strict types, no unknown fields, texts of one line."""

    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> Any:
        """Each text is one line, unless its type says otherwise."""
        return require_one_line(handler(source))


class PatchBody(RequestBody):
    """A PATCH body: omitted fields stay as they are; null clears the fields in `clearable`."""

    clearable: ClassVar[frozenset[str]] = frozenset()

    @field_validator("*", mode="before")
    @classmethod
    def _null_only_if_clearable(cls, value: Any, info: ValidationInfo) -> Any:
        if value is None and info.field_name not in cls.clearable:
            raise ValueError("cannot be null: leave the field out to keep its value")
        return value

    def changes(self) -> dict[str, Any]:
        """The fields that were sent."""
        return self.model_dump(exclude_unset=True)


class View(BaseModel):
    """A response, or a part of one; its fields are named as the attributes of what it shows."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, shown: object, **given: Any) -> Self:
        """The view of a row or any other object; `given` are fields that it does not have, or shows otherwise."""
        own = {name: getattr(shown, name) for name in cls.model_fields if name not in given and hasattr(shown, name)}
        return cls(**own, **given)

    @classmethod
    def of_all(cls, shown: Iterable[object]) -> Self:
        """The view of a list, whose `items` are views of what it lists."""
        return cls.model_validate({"items": list(shown)})


class WholeList(View):
    """A list that is always shown whole: its `next` is null, as on the last page of any other."""

    next: None = None


class Query(BaseModel):
    """The query parameters of a request: converted to their types, no unknown ones."""

    model_config = ConfigDict(extra="forbid")


def parse_time(value: Any) -> Any:
    """Milliseconds of an ISO 8601 time with a UTC offset; integers pass as they are."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError("must be a time like 2026-07-04T18:00:00Z, or whole milliseconds since 1970")
    millis = value if isinstance(value, int) else _from_text(value)
    if not 0 <= millis < MILLIS_OF_YEAR_9999:
        raise ValueError("must be between the years 1970 and 9998")
    return millis


def _from_text(value: str) -> int:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise ValueError("must be a time like 2026-07-04T18:00:00Z") from None
    if moment.tzinfo is None:
        raise ValueError("must have a UTC offset: 2026-07-04T18:00:00Z or …+02:00")
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def iso(millis: int) -> str:
    """The time in ISO 8601, in UTC, ending in Z."""
    moment = _EPOCH + timedelta(milliseconds=millis)  # integers: a float would lose the last millisecond
    text = moment.isoformat(timespec="milliseconds" if millis % 1000 else "seconds")
    return text.removesuffix("+00:00") + "Z"


def iso_or_none(millis: int | None) -> str | None:
    """The time in ISO 8601, or None."""
    return None if millis is None else iso(millis)


def _iso_of_millis(value: Any) -> Any:
    return iso(value) if isinstance(value, int) else value


_TIME_SCHEMA = {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "integer", "minimum": 0}]}

Time = Annotated[int, BeforeValidator(parse_time), WithJsonSchema(_TIME_SCHEMA)]
"""A time in a request."""
IsoTime = Annotated[str, BeforeValidator(_iso_of_millis)]
"""A time in a response, which takes it in milliseconds."""
Hex = Annotated[str, BeforeValidator(lambda value: value.hex() if isinstance(value, bytes) else value)]
"""Bytes in a response."""
Date = Annotated[str, StringConstraints(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
"""An event day, as 2026-07-04."""
Dates = Annotated[list[Date], Field(min_length=1, max_length=400)]
Id = Annotated[str, StringConstraints(pattern="^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$", to_lower=True)]
"""An id in a request."""
Name = Annotated[str, Field(min_length=1, max_length=100)]
Slug = Annotated[str, Field(min_length=1, max_length=60, pattern="^[a-z0-9]([a-z0-9-]*[a-z0-9])?$")]
Reason = Annotated[str, Field(max_length=1000), SEVERAL_LINES]
Approval = Annotated[str, Field(max_length=200)]
"""The tenant's approval that platform staff act on; `web.current_actor` reads it from the body."""
