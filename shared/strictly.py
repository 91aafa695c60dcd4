"""Decodes untrusted MessagePack: returns a value of the requested type or raises Unreadable, nothing else."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from shared.errors import Unreadable

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")

# What invalid input can raise: bad UTF-8, unhashable keys, endless nesting.
NONSENSE = (ValueError, TypeError, RecursionError, OverflowError)


class Decoder(Protocol[T_co]):
    """The interface of msgspec's decoders."""

    def decode(self, buf: bytes, /) -> T_co:
        """Decodes a value."""


def strictly(decoder: Decoder[T], data: bytes, what: str, limit: int) -> T:
    """Decodes `data` of at most `limit` bytes. Raises Unreadable, naming `what`."""
    if len(data) > limit:
        raise Unreadable(f"{what} is larger than allowed ({len(data)} bytes, at most {limit}). It was discarded.")
    try:
        return decoder.decode(data)
    except NONSENSE as problem:
        raise unreadable(what, problem) from problem


def unreadable(what: str, problem: Any) -> Unreadable:
    """The error for `what`, with the reason."""
    return Unreadable(f"{what} is damaged or not valid Gatehouse data. It was discarded.", problem=str(problem)[:200])
