"""Where a reader of the feed is, in opaque words that are checked against damage and against other questions."""

from __future__ import annotations

import base64
import binascii
import struct
from dataclasses import dataclass
from hashlib import blake2b

from shared.clock import Millis
from shared.errors import InvalidRequest

_FORM = struct.Struct(">BqIiqq")
_VERSION = 1
_CHECK_BYTES = 6


@dataclass(frozen=True, slots=True)
class Step:
    """The last event that a reader was given, and the walk it belongs to."""

    began: Millis  # when the first page was read
    generation: int = 0  # of trending places; 0: none
    place: int = 0  # there; BEHIND: after all that have one
    starts_at: Millis = 0
    number: int = 0


BEHIND = -1


def write(step: Step, question: str) -> str:
    """The cursor that continues a question after this step."""
    body = _FORM.pack(_VERSION, step.began, step.generation, step.place, step.starts_at, step.number)
    return base64.urlsafe_b64encode(body + _check(body, question)).decode().rstrip("=")


def read(cursor: str, question: str) -> Step:
    """The step that `write` was given; InvalidRequest `bad_cursor` for anything else."""
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _bad() from None
    body, check = raw[: _FORM.size], raw[_FORM.size :]
    if len(body) != _FORM.size or check != _check(body, question) or body[0] != _VERSION:
        raise _bad()
    _, began, generation, place, starts_at, number = _FORM.unpack(body)
    return Step(began, generation, place, starts_at, number)


def _check(body: bytes, question: str) -> bytes:
    return blake2b(body + question.encode(), digest_size=_CHECK_BYTES).digest()


def _bad() -> InvalidRequest:
    return InvalidRequest(
        "`after` is not a cursor of this list: use the `next` of the page before, with the same sort and filters.",
        code="bad_cursor",
    )
