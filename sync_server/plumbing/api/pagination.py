"""Keyset pagination: `?limit=&after=` in, `{"items", "next"}` out; cursors are opaque to clients."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Generic, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field

from shared.errors import InvalidRequest
from shared.ids import is_uuid
from sync_server.plumbing.storable_json import visible

T = TypeVar("T")


class PageQuery(BaseModel):
    """Which part of a list to return."""

    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=500)] = 50
    after: Annotated[str, Field(max_length=400)] | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list, and the cursor of the next."""

    items: Sequence[T]
    next: str | None


def paginate(rows: Sequence[T], limit: int, key: Callable[[T], Sequence[Any]]) -> Page[T]:
    """A page of `limit` items from rows selected with `limit + 1`."""
    items = rows[:limit]
    return Page(items, encode_cursor(key(items[-1])) if len(rows) > limit else None)


def encode_cursor(key: Sequence[Any]) -> str:
    """The opaque cursor for a position in a list."""
    return base64.urlsafe_b64encode(orjson.dumps(list(key))).decode().rstrip("=")


class AnId(str):
    """The kind of a cursor's part that is compared with ids."""

    __slots__ = ()


_NUMBERS: Final = range(-(2**63), 2**63)


def decode_cursor(after: str | None, *kinds: type) -> tuple[Any, ...] | None:
    """The position of a cursor; InvalidRequest for one that is not of this list."""
    if after is None:
        return None
    try:
        key = orjson.loads(base64.urlsafe_b64decode(after + "=" * (-len(after) % 4)))
    except (binascii.Error, ValueError):
        key = None
    if not isinstance(key, list) or len(key) != len(kinds) or not all(map(_fits, key, kinds)):
        raise InvalidRequest(
            "`after` is not a cursor of this list: use `next` of the previous page.", code="bad_cursor"
        )
    return tuple(key)


def _fits(part: Any, kind: type) -> bool:
    """Whether a column of this kind can be compared with it: a database must not be the first to find out."""
    if kind is int:
        return type(part) is int and part in _NUMBERS
    return type(part) is str and (is_uuid(part) if kind is AnId else visible(part) == part)
