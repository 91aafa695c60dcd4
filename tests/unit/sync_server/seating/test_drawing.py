"""The compact columns of a map drawing can be decoded again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sync_server.seating.plans.drawing import run_lengths, second_differences


def decoded(differences: list[int]) -> list[int]:
    """As a page decodes it: the first is a value, the second a step, every other the change of the step."""
    places: list[int] = []
    step = 0
    for count, difference in enumerate(differences):
        step = difference if count == 1 else step + difference if count else 0
        places.append(places[-1] + step if count else difference)
    return places


@given(st.lists(st.integers(-5_000, 5_000), max_size=40))
def test_second_differences_can_be_decoded(places: list[int]) -> None:
    assert decoded(second_differences(places)) == places


def test_straight_row_is_all_zeros_after_its_first_step() -> None:
    assert second_differences([100, 110, 120, 130, 140]) == [100, 10, 0, 0, 0]


@given(st.lists(st.sampled_from("AB"), max_size=30))
def test_run_lengths_can_be_decoded(values: list[str]) -> None:
    assert [value for value, often in run_lengths(values) for _ in range(often)] == values
    assert all(one[0] != other[0] for one, other in zip(run_lengths(values), run_lengths(values)[1:], strict=False))
