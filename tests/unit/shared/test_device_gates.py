"""Where a device may be used: no list of gates means all of them."""

from __future__ import annotations

import pytest

from shared.device_gates import standing, usable

GATES = (1, 2, 3)


@pytest.mark.parametrize(
    ("assigned", "allowed", "expected"),
    [
        (None, (), (1, 2, 3)),
        (None, (2, 9), (2,)),
        (None, (9,), ()),
        (1, (), (1,)),
        (1, (1, 3), (1, 3)),
        (9, (), ()),
    ],
)
def test_it_may_be_used_where_it_is_allowed_or_everywhere(
    assigned: int | None, allowed: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    assert usable(assigned, allowed, GATES) == expected


@pytest.mark.parametrize(
    ("assigned", "allowed", "gates", "expected"),
    [
        (None, (), GATES, None),
        (None, (), (2,), 2),
        (None, (), (), None),
        (None, (3,), GATES, 3),
        (1, (), GATES, 1),
        (1, (3,), GATES, 1),
        (9, (), GATES, None),
    ],
)
def test_it_stands_at_its_gate_or_at_the_only_one(
    assigned: int | None, allowed: tuple[int, ...], gates: tuple[int, ...], expected: int | None
) -> None:
    assert standing(assigned, allowed, gates) == expected
