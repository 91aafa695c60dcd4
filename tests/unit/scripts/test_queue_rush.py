"""The buyers of the benchmark's rush wait for their turn by the clock, however fast the server answers."""

from __future__ import annotations

from collections.abc import Iterator

from scripts.benchmarking.parts.queue_rush import STUCK_S, wait_for_turn
from scripts.benchmarking.rows.rows_venue import Guest

GUEST = Guest("01", {})
WAITING, ADMITTED = (200, b'{"state":"waiting"}'), (200, b'{"state":"admitted"}')


def ending(answers: Iterator[tuple[int, bytes]], seconds_an_answer: float) -> tuple[str, int]:
    """How the wait ended, and after how many questions."""
    now, asked = 0.0, 1
    talk = wait_for_turn("/queue", GUEST, lambda: now)
    next(talk)
    for answer in answers:
        now += seconds_an_answer
        try:
            talk.send(answer)
        except StopIteration as end:
            return str(end.value), asked
        asked += 1
    raise AssertionError("it waits for more answers")


def test_buyer_is_served_whose_server_answers_a_thousand_times_in_a_second() -> None:
    assert ending(iter([WAITING] * 1_000 + [ADMITTED]), 0.001) == ("", 1_001)


def test_buyer_whose_turn_never_comes_says_so() -> None:
    said, asked = ending(iter([WAITING] * 1_000), 0.5)
    assert asked == 2 * STUCK_S
    assert said.startswith(f"not admitted within {STUCK_S} s")


def test_buyer_who_is_refused_says_why() -> None:
    assert ending(iter([(404, b"no queue")]), 0.1) == ("404 no queue", 1)
