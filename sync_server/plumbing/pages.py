"""Keyset pages: `?limit=&after=` in, `{"items", "next"}` out; the cursor is opaque to callers."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field

from shared.errors import InvalidRequest

T = TypeVar("T")


class PageQuery(BaseModel):
    """How much of a list, and from where."""

    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=500)] = 50
    after: Annotated[str, Field(max_length=400)] | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A stretch of a list, and the cursor that continues it."""

    items: Sequence[T]
    next: str | None


def cut(rows: Sequence[T], limit: int, key: Callable[[T], Sequence[Any]]) -> Page[T]:
    """A page of `limit` from rows of which one more than that was asked for."""
    items = rows[:limit]
    return Page(items, cursor(key(items[-1])) if len(rows) > limit else None)


def cursor(key: Sequence[Any]) -> str:
    """The opaque form of a position in a list."""
    return base64.urlsafe_b64encode(orjson.dumps(list(key))).decode().rstrip("=")


def position(after: str | None, *kinds: type) -> tuple[Any, ...] | None:
    """What `cursor` made of it; InvalidRequest for anything else."""
    if after is None:
        return None
    try:
        key = orjson.loads(base64.urlsafe_b64decode(after + "=" * (-len(after) % 4)))
    except (binascii.Error, ValueError):
        key = None
    if not isinstance(key, list) or [type(part) for part in key] != list(kinds):
        raise InvalidRequest(
            "`after` is not a cursor of this list: use the `next` of the page before.", code="bad_cursor"
        )
    return tuple(key)
