"""Ids that sort by birth and depend on nothing but what is handed in."""

from __future__ import annotations

from uuid import RFC_4122, UUID

from hypothesis import given
from hypothesis import strategies as st

from shared.ids import uuid7

MILLIS = st.integers(0, 2**48 - 1)
CHANCE = st.binary(min_size=10, max_size=10)


@given(MILLIS, CHANCE)
def test_an_id_is_a_uuid_of_version_seven_that_tells_its_time(now: int, chance: bytes) -> None:
    born = UUID(uuid7(now, lambda size: chance[:size]))
    assert born.version == 7
    assert born.variant == RFC_4122
    assert born.int >> 80 == now


@given(MILLIS, MILLIS, CHANCE, CHANCE)
def test_ids_sort_by_time_of_birth(first: int, second: int, chance: bytes, other: bytes) -> None:
    ids = uuid7(first, lambda _: chance), uuid7(second, lambda _: other)
    assert first == second or (ids[0] < ids[1]) == (first < second)


def test_every_bit_of_chance_that_has_room_is_used() -> None:
    ids = {uuid7(1, lambda _, bit=bit: (1 << bit).to_bytes(10, "big")) for bit in range(74)}  # type: ignore[misc]
    assert len(ids) == 74
