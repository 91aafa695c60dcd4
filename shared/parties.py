"""A party: a code that is good for several tickets, each named with the issue for which it is good."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from shared.errors import InvalidRequest

SMALLEST, LARGEST = 2, 28
"""How many tickets a party may have: extensions have room for no more."""
_ID, _SIZE = 8, 9


class Member(NamedTuple):
    """One ticket of a party."""

    ticket_id: int
    issue: int


def to_value(members: Iterable[Member]) -> bytes:
    """The value of the extension: each ticket's id and issue, by id. Raises InvalidRequest."""
    ordered = sorted(members)
    if not SMALLEST <= len(ordered) <= LARGEST or len({member.ticket_id for member in ordered}) < len(ordered):
        raise InvalidRequest(f"A party is of {SMALLEST} to {LARGEST} tickets, each named once.", claim="members")
    return b"".join(ticket_id.to_bytes(_ID, "big") + bytes((issue,)) for ticket_id, issue in ordered)


def from_value(value: bytes) -> tuple[Member, ...] | None:
    """The members in order of their ids; None if the value is not the only form of a party."""
    if len(value) % _SIZE or not SMALLEST <= len(value) // _SIZE <= LARGEST:
        return None
    members = tuple(
        Member(int.from_bytes(value[at : at + _ID], "big"), value[at + _ID]) for at in range(0, len(value), _SIZE)
    )
    ids = [member.ticket_id for member in members]
    return members if all(one < after for one, after in pairwise(ids)) else None
