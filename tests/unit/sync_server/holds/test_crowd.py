"""Which requests may share a statement: those that nothing of the others could change."""

from __future__ import annotations

from typing import Any

import pytest

from sync_server.holds.attempts.crowd import Compatible
from sync_server.holds.attempts.crowd_statement import SHARED
from sync_server.plumbing.sql.turns import Waiting

WALL = -1
ONE: dict[str, Any] = {
    **dict.fromkeys(SHARED, 1),
    "bearer": "ann",
    "seat": 10,
    "left_far": 8,
    "left": 9,
    "right": 11,
    "right_far": 12,
    "origin": "here",
    "card": "gold-1",
    "per_address": -1,
    "per_card": -1,
}
OTHER = ONE | {"bearer": "ben", "seat": 20, "left_far": 18, "left": 19, "right": 21, "right_far": WALL}


def share(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether the second may wait where the first does."""
    queue = Compatible()
    assert queue.admits(first)
    queue.append(Waiting(first))
    return queue.admits(second)


def test_other_bearers_with_other_seats_share() -> None:
    assert share(ONE, OTHER)


@pytest.mark.parametrize("name", SHARED)
def test_whatever_the_statement_takes_for_all_must_be_the_same(name: str) -> None:
    assert not share(ONE, OTHER | {name: 2})


@pytest.mark.parametrize(
    "second",
    [
        {"bearer": "ann"},
        {"seat": 10},
        {"seat": 12},  # two seats from the first: what one leaves between them the other must see
        {"left_far": 10},
    ],
    ids=str,
)
def test_the_same_bearer_or_a_seat_nearby_goes_alone(second: dict[str, Any]) -> None:
    assert not share(ONE, OTHER | second)


@pytest.mark.parametrize(
    ("limit", "name", "differs"), [("per_address", "origin", "there"), ("per_card", "card", "gold-2")]
)
def test_an_address_or_a_card_counts_where_it_is_limited(limit: str, name: str, differs: str) -> None:
    limited = {limit: 60}
    assert not share(ONE | limited, OTHER | limited)
    assert share(ONE | limited, OTHER | limited | {name: differs})
    assert share(ONE | limited | {name: None}, OTHER | limited | {name: None})  # it tells nobody apart


def test_whoever_waits_no_longer_is_in_nobodys_way() -> None:
    queue = Compatible()
    assert queue.admits(ONE)
    queue.append(Waiting(ONE))
    queue.take()
    assert queue.admits(ONE | {"status": "postponed"})


def test_the_third_is_compared_with_both() -> None:
    queue = Compatible()
    for one in (ONE, OTHER):
        assert queue.admits(one)
        queue.append(Waiting(one))
    third = OTHER | {"seat": 30, "left_far": 28, "left": 29, "right": 31, "right_far": 32}
    assert not queue.admits(third) and not queue.admits(third | {"bearer": "ann"})
    assert queue.admits(third | {"bearer": "cleo"})


def test_whoever_was_served_is_not_compared_with() -> None:
    queue = Compatible()
    for one in (ONE, OTHER):
        assert queue.admits(one)
        queue.append(Waiting(one))
    queue.take()
    assert queue.admits(ONE)
    queue.append(Waiting(ONE))
    assert queue.admits(OTHER)
