"""Verifies an audit log that was exported as JSON lines, without the database it came from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Annotated, Any, TypeVar

import msgspec

from shared.errors import InvalidRequest, Untrusted
from sync_server.audit.chain_check import (
    CHAIN_START,
    ChainBreak,
    ChainCheck,
    ChainPosition,
    PersonalValues,
    SealedLine,
    check_chain,
    check_head,
    check_signature,
)

_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Hex = Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{2})*$")]
T = TypeVar("T")


class _Personal(msgspec.Struct):
    salt: _Hex | None
    content: str | None
    erased_at: int | None


class _Line(msgspec.Struct):
    seq: _Count
    seal: _Hex
    line: dict[str, Any]
    personal: dict[str, _Personal]


class _PutAway(msgspec.Struct):
    seq: _Count
    seal: _Hex


class _Head(msgspec.Struct):
    chain: str
    seq: _Count
    seal: _Hex | None
    at: _Count | None
    signature: _Hex | None


def prove_file(
    lines: Iterable[str],
    *,
    start: ChainPosition = CHAIN_START,
    public: bytes | None = None,
    known: Iterable[ChainPosition] = (),
) -> ChainCheck:
    """Check an export from `start`, where the one before it ended; raises InvalidRequest for what is not an export.

    Given `public`, the server's key, the head must be signed by it.
    """
    heads: list[_Head] = []
    start, lines = _after_put_away(lines, start)
    checked = check_chain(_sealed_lines(lines, heads), start, known)
    if checked.broken is not None:
        return checked
    broken = _head_problem(checked.place, heads, public)
    return ChainCheck(checked.place, checked.erased, broken)


def _after_put_away(lines: Iterable[str], start: ChainPosition) -> tuple[ChainPosition, Iterable[str]]:
    """Where the lines begin, if the file says that earlier ones stand in files of their own.

    It need not be believed: from another position no seal leads to the head that the server has signed.
    """
    walk = iter(lines)
    first = next(walk, None)
    if first is None:
        return start, ()
    fields = _parse(first, 1)
    if fields.get("kind") != "put_away":
        return start, chain([first], walk)
    cut = _convert(fields, _PutAway, 1)
    return ChainPosition(cut.seq, bytes.fromhex(cut.seal)), walk


def _sealed_lines(lines: Iterable[str], heads: list[_Head]) -> Iterator[SealedLine]:
    for number, text in enumerate(lines, 1):
        fields = _parse(text, number)
        if fields.get("kind") == "head":
            heads.append(_convert(fields, _Head, number))
        else:
            yield _sealed_line(_convert(fields, _Line, number))


def _parse(text: str, number: int) -> dict[str, Any]:
    # The seal covers the exact numbers and characters that were written; the standard library keeps them all.
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise _not_an_export(number)
    return fields


def _convert(fields: dict[str, Any], shape: type[T], number: int) -> T:
    try:
        return msgspec.convert(fields, shape)
    except (msgspec.ValidationError, UnicodeEncodeError):
        raise _not_an_export(number) from None


def _not_an_export(number: int) -> InvalidRequest:
    return InvalidRequest(f"Line {number} of the file is not a line of an exported audit log.")


def _sealed_line(line: _Line) -> SealedLine:
    personal = {
        part: PersonalValues(_bytes(values.salt), values.content, values.erased_at is not None)
        for part, values in line.personal.items()
    }
    return SealedLine(line.seq, bytes.fromhex(line.seal), line.line, personal)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def _head_problem(reached: ChainPosition, heads: list[_Head], public: bytes | None) -> ChainBreak | None:
    if len(heads) != 1:
        return ChainBreak(reached.seq + 1, None, "The file does not end with the head of its chain: it is incomplete.")
    [stated] = heads
    head = ChainPosition(stated.seq, _bytes(stated.seal) or CHAIN_START.seal)
    if public is not None and head.seq:
        try:
            check_signature(stated.chain, head, stated.at or 0, _bytes(stated.signature), public)
        except Untrusted as problem:
            return ChainBreak(reached.seq, None, problem.message)
    return check_head(reached, head)
