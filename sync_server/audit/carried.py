"""Proves a log that was taken away as JSON lines, without the database it came from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

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


def prove_file(
    lines: Iterable[str], *, start: Place = BEGINNING, public: bytes | None = None, known: Iterable[Place] = ()
) -> Followed:
    """Follow an export from `start`, where the one before it ended; InvalidRequest for what is no export.

    With `public`, the server's key, the head must be signed by it.
    """
    heads: list[Mapping[str, Any]] = []
    followed = follow(_links(lines, heads), start, known)
    if followed.broken is not None:
        return followed
    broken = _head_problem(followed.place, heads, public)
    return Followed(followed.place, followed.erased, broken)


def _links(lines: Iterable[str], heads: list[Mapping[str, Any]]) -> Iterator[Link]:
    for number, text in enumerate(lines, 1):
        try:
            told = json.loads(text)
            if told["kind"] == "head":
                heads.append(told)
            else:
                yield _link(told)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InvalidRequest(f"Line {number} of the file is no line of an exported audit log.") from None


def _link(told: Mapping[str, Any]) -> Link:
    apart = {
        part: Apart(_bytes(filed["salt"]), filed["content"], filed["erased_at"] is not None)
        for part, filed in told["personal"].items()
    }
    return Link(told["seq"], bytes.fromhex(told["seal"]), told["line"], apart)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def _head_problem(reached: Place, heads: list[Mapping[str, Any]], public: bytes | None) -> Break | None:
    if len(heads) != 1:
        return Break(reached.seq + 1, None, "The file does not end with the head of its chain: it is not whole.")
    try:
        told = heads[0]
        head = Place(told["seq"], _bytes(told["seal"]) or BEGINNING.seal)
        if public is not None and head.seq:
            check_signature(told["chain"], head, told["at"], _bytes(told["signature"]), public)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidRequest("The last line of the file is no head of an audit log.") from None
    except Untrusted as problem:
        return Break(reached.seq, None, problem.message)
    return head_break(reached, head)
