"""Reading MessagePack from strangers: a value of the type asked for, or Unreadable, and never another exception."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from shared.errors import Unreadable

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")

# Nonsense shows in many ways: text that is no UTF-8, keys that cannot be keys, nesting without end.
NONSENSE = (ValueError, TypeError, RecursionError, OverflowError)


class Decoder(Protocol[T_co]):
    """What msgspec's decoders promise."""

    def decode(self, buf: bytes, /) -> T_co:
        """The value that these bytes say."""


def strictly(decoder: Decoder[T], data: bytes, what: str, limit: int) -> T:
    """The value in `data`, at most `limit` bytes; Unreadable says `what` is damaged."""
    if len(data) > limit:
        raise Unreadable(f"{what} is larger than allowed ({len(data)} bytes, at most {limit}). Nothing of it was used.")
    try:
        return decoder.decode(data)
    except NONSENSE as problem:
        raise unreadable(what, problem) from problem


def unreadable(what: str, problem: Any) -> Unreadable:
    """The refusal of `what`, with the words of the part that found the damage."""
    return Unreadable(f"{what} is damaged or is not Gatehouse's. Nothing of it was used.", problem=str(problem)[:200])
