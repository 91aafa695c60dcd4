"""Identical unreadable texts once a minute, at most twenty a minute, the rest as a count."""

from __future__ import annotations

from gate_app.scanning.noise import Noise


def test_the_same_text_is_written_once_a_minute() -> None:
    noise = Noise()
    noise.over(0)
    assert [noise.writes("poster") for _ in range(3)] == [True, False, False]
    assert noise.over(59_999) == 0
    assert noise.over(60_000) == 2
    assert noise.writes("poster")


def test_at_most_twenty_different_ones() -> None:
    noise = Noise()
    noise.over(0)
    assert sum(noise.writes(f"poster {number}") for number in range(50)) == 20
    assert noise.over(60_000) == 30


def test_a_count_is_reported_once() -> None:
    noise = Noise()
    noise.over(0)
    noise.writes("poster")
    noise.writes("poster")
    assert (noise.over(60_000), noise.over(120_000)) == (1, 0)
