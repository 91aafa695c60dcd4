"""Building blocks of request and answer shapes: strict, with nothing unknown, and times that people can read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, WithJsonSchema, field_validator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLIS_OF_YEAR_9999 = 253_370_764_800_000


class Asked(BaseModel):
    """A request's body: types are taken literally, unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=True)


class Changed(Asked):
    """A request that changes what it names: a field that is left out stays; null only clears what may be empty."""

    clearable: ClassVar[frozenset[str]] = frozenset()

    @field_validator("*", mode="before")
    @classmethod
    def _no_empty_musts(cls, value: Any, info: ValidationInfo) -> Any:
        if value is None and info.field_name not in cls.clearable:
            raise ValueError("cannot be null: leave the field out to keep what there is")
        return value

    def changes(self) -> dict[str, Any]:
        """The fields that were sent."""
        return self.model_dump(exclude_unset=True)


class Query(BaseModel):
    """A request's query: words are turned into numbers, unknown ones are refused."""

    model_config = ConfigDict(extra="forbid")


def parse_time(value: Any) -> Any:
    """Milliseconds of an ISO-8601 time with its offset from UTC; whole milliseconds pass."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError("is a time like 2026-07-04T18:00:00Z, or whole milliseconds since 1970")
    millis = value if isinstance(value, int) else _from_text(value)
    if not 0 <= millis < MILLIS_OF_YEAR_9999:
        raise ValueError("lies outside the years 1970 to 9998")
    return millis


def _from_text(value: str) -> int:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise ValueError("is no time; write it like 2026-07-04T18:00:00Z") from None
    if moment.tzinfo is None:
        raise ValueError("lacks its offset from UTC; write 2026-07-04T18:00:00Z or …+02:00")
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def iso(millis: int) -> str:
    """As people and scripts read it: UTC, ending in Z."""
    moment = _EPOCH + timedelta(milliseconds=millis)  # whole numbers: a float would lose the last millisecond
    text = moment.isoformat(timespec="milliseconds" if millis % 1000 else "seconds")
    return text.removesuffix("+00:00") + "Z"


def iso_or_none(millis: int | None) -> str | None:
    """The same for a time that may be missing."""
    return None if millis is None else iso(millis)


_TIME_SCHEMA = {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "integer", "minimum": 0}]}

Time = Annotated[int, BeforeValidator(parse_time), WithJsonSchema(_TIME_SCHEMA)]
Name = Annotated[str, Field(min_length=1, max_length=100)]
Slug = Annotated[str, Field(min_length=1, max_length=60, pattern="^[a-z0-9]([a-z0-9-]*[a-z0-9])?$")]
Reason = Annotated[str, Field(max_length=1000)]
Approval = Annotated[str, Field(max_length=200)]
"""The tenant's approval that staff of the platform act on; whoever is told of the request reads it from the body."""
