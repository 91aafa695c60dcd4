"""Waiting longer each time, never beyond the cap, and never all at once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shared.backoff import delays

JITTER = st.floats(0, 1, exclude_max=True)


def test_each_try_waits_twice_as_long_until_the_cap() -> None:
    waits = [delays(attempt, base_ms=1_000, cap_ms=60_000, jitter=0.999_999) for attempt in range(9)]
    assert waits == [999, 1_999, 3_999, 7_999, 15_999, 31_999, 59_999, 59_999, 59_999]


def test_gates_that_lost_the_server_together_do_not_come_back_together() -> None:
    waits = {delays(3, base_ms=1_000, cap_ms=60_000, jitter=gate / 50) for gate in range(50)}
    assert len(waits) == 50


@given(st.integers(-5, 10**9), st.integers(1, 10**6), st.integers(1, 10**8), JITTER)
def test_half_of_a_wait_is_certain_and_none_is_above_the_cap(attempt: int, base: int, cap: int, jitter: float) -> None:
    wait = delays(attempt, base_ms=base, cap_ms=cap, jitter=jitter)
    full = delays(attempt, base_ms=base, cap_ms=cap, jitter=0) * 2
    assert full // 2 <= wait <= min(cap, full + 1)
    assert wait >= min(base, cap) // 2


@given(st.integers(0, 100), JITTER)
def test_a_later_try_never_waits_less(attempt: int, jitter: float) -> None:
    first, second = (delays(attempt + more, base_ms=500, cap_ms=30_000, jitter=jitter) for more in (0, 1))
    assert first <= second
