"""Proves a log that was taken away as JSON lines, without the database it came from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, TypeVar

import msgspec

from shared.errors import InvalidRequest, Untrusted
from sync_server.audit.following import (
    BEGINNING,
    Apart,
    Break,
    Followed,
    Link,
    Place,
    check_signature,
    follow,
    head_break,
)

_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Hex = Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{2})*$")]
T = TypeVar("T")


class _Filed(msgspec.Struct):
    salt: _Hex | None
    content: str | None
    erased_at: int | None


class _Line(msgspec.Struct):
    seq: _Count
    seal: _Hex
    line: dict[str, Any]
    personal: dict[str, _Filed]


class _Head(msgspec.Struct):
    chain: str
    seq: _Count
    seal: _Hex | None
    at: _Count | None
    signature: _Hex | None


def prove_file(
    lines: Iterable[str], *, start: Place = BEGINNING, public: bytes | None = None, known: Iterable[Place] = ()
) -> Followed:
    """Follow an export from `start`, where the one before it ended; InvalidRequest for what is no export.

    With `public`, the server's key, the head must be signed by it.
    """
    heads: list[_Head] = []
    followed = follow(_links(lines, heads), start, known)
    if followed.broken is not None:
        return followed
    broken = _head_problem(followed.place, heads, public)
    return Followed(followed.place, followed.erased, broken)


def _links(lines: Iterable[str], heads: list[_Head]) -> Iterator[Link]:
    for number, text in enumerate(lines, 1):
        told = _read(text, number)
        if told.get("kind") == "head":
            heads.append(_shaped(told, _Head, number))
        else:
            yield _link(_shaped(told, _Line, number))


def _read(text: str, number: int) -> dict[str, Any]:
    # The seal covers the very numbers and letters that were written: the standard reader keeps them all.
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise _no_export(number)
    return told


def _shaped(told: dict[str, Any], shape: type[T], number: int) -> T:
    try:
        return msgspec.convert(told, shape)
    except (msgspec.ValidationError, UnicodeEncodeError):
        raise _no_export(number) from None


def _no_export(number: int) -> InvalidRequest:
    return InvalidRequest(f"Line {number} of the file is no line of an exported audit log.")


def _link(told: _Line) -> Link:
    apart = {
        part: Apart(_bytes(filed.salt), filed.content, filed.erased_at is not None)
        for part, filed in told.personal.items()
    }
    return Link(told.seq, bytes.fromhex(told.seal), told.line, apart)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def _head_problem(reached: Place, heads: list[_Head], public: bytes | None) -> Break | None:
    if len(heads) != 1:
        return Break(reached.seq + 1, None, "The file does not end with the head of its chain: it is not whole.")
    told = heads[0]
    head = Place(told.seq, _bytes(told.seal) or BEGINNING.seal)
    if public is not None and head.seq:
        try:
            check_signature(told.chain, head, told.at or 0, _bytes(told.signature), public)
        except Untrusted as problem:
            return Break(reached.seq, None, problem.message)
    return head_break(reached, head)
