"""Columns of a drawing: what is written short can be read back whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sync_server.seating.maps import bends, runs


def straightened(told: list[int]) -> list[int]:
    """As a page reads it: the first is a place, the second a step, every other the change of a step."""
    places: list[int] = []
    step = 0
    for count, bend in enumerate(told):
        step = bend if count == 1 else step + bend if count else 0
        places.append(places[-1] + step if count else bend)
    return places


@given(st.lists(st.integers(-5_000, 5_000), max_size=40))
def test_places_can_be_read_back_from_their_bends(places: list[int]) -> None:
    assert straightened(bends(places)) == places


def test_straight_row_is_nothing_but_zeros_after_its_first_step() -> None:
    assert bends([100, 110, 120, 130, 140]) == [100, 10, 0, 0, 0]


@given(st.lists(st.sampled_from("AB"), max_size=30))
def test_runs_say_every_value_as_often_as_it_was_there(values: list[str]) -> None:
    assert [value for value, often in runs(values) for _ in range(often)] == values
    assert all(one[0] != other[0] for one, other in zip(runs(values), runs(values)[1:], strict=False))
