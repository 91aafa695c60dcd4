"""The curve of entries says at each moment how many came until then, however long the event goes on."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sync_server.admin.door.entry_curve import FINE, entry_curve
from sync_server.admin.page import words
from sync_server.scans.throughput import Stretch

EVENING = 1_800_000_000_000 // FINE * FINE


def a_stretch(at: int, entries: int, exits: int = 0, gate: int = 1) -> Stretch:
    return Stretch(gate, EVENING + at * FINE, entries, exits, 0)


def test_guests_stand_at_the_end_of_the_minutes_in_which_they_came() -> None:
    curve = entry_curve([a_stretch(0, 2), a_stretch(0, 1, gate=2), a_stretch(2, 4, 1)], "UTC", words())
    assert curve is not None
    assert [at - curve["at"][0] for at in curve["at"]] == [0, 300, 600, 900]
    assert [line["values"] for line in curve["lines"]] == [[0, 3, 3, 7], [0, 0, 0, 1]]


def test_there_is_no_curve_of_refusals_alone() -> None:
    assert entry_curve([Stretch(1, EVENING, 0, 0, 9)], "UTC", words()) is None


@given(st.lists(st.tuples(st.integers(0, 3_000), st.integers(0, 50), st.integers(0, 50)), min_size=1))
def test_the_last_values_are_all_who_came_and_went(evening: list[tuple[int, int, int]]) -> None:
    curve = entry_curve([a_stretch(*one) for one in evening], "UTC", words())
    entries, exits = sum(one[1] for one in evening), sum(one[2] for one in evening)
    assert (curve is None) == (entries + exits == 0)
    if curve is not None:
        ends = [line["values"][-1] for line in curve["lines"]]
        assert ends == ([entries, exits] if exits else [entries])
        assert all(line["values"] == sorted(line["values"]) for line in curve["lines"])
        assert len(curve["at"]) < 700
