"""A few threads at a time do what all want, the others in the order in which they came; and nobody waits for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from sync_server.plumbing.few_at_once import FewAtOnce

EVENT = "event"


class Door:
    """Threads that go in when they may, and come out when they are told."""

    def __init__(self, most: int, patience_s: float = 60) -> None:
        self.few = FewAtOnce(most, patience_s=patience_s)
        self.inside: list[int] = []
        self.told = {number: threading.Event() for number in range(8)}
        self.threads = ThreadPoolExecutor(8)

    def come(self, number: int, key: str = EVENT) -> Future[None]:
        before = self.few.waiting(key)
        coming = self.threads.submit(self._go_in, number, key)
        until(lambda: number in self.inside or self.few.waiting(key) > before)
        return coming

    def _go_in(self, number: int, key: str) -> None:
        with self.few.turn(key):
            self.inside.append(number)
            self.told[number].wait(60)
            self.inside.remove(number)

    def leave(self, number: int, coming: Future[None]) -> None:
        self.told[number].set()
        coming.result(60)


def until(reached: Callable[[], bool]) -> None:
    for _ in range(6_000):
        if reached():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it was not reached")


def test_a_few_go_in_and_the_others_follow_in_their_order() -> None:
    door = Door(2)
    coming = [door.come(number) for number in range(5)]
    assert (sorted(door.inside), door.few.waiting(EVENT)) == ([0, 1], 3)
    for leaves, inside in ((1, [0, 2]), (0, [2, 3]), (2, [3, 4])):
        door.leave(leaves, coming[leaves])
        until(lambda inside=inside: sorted(door.inside) == inside)  # type: ignore[misc]
    newcomer = door.come(5)
    assert 5 not in door.inside, "whoever was let in counts"
    elsewhere = door.come(7, "another event")
    assert 7 in door.inside, "other events have doors of their own"
    for number, each in ((3, coming[3]), (4, coming[4]), (5, newcomer), (7, elsewhere)):
        door.leave(number, each)
    assert door.few.waiting(EVENT) == 0


def test_whoever_has_waited_long_enough_goes_in_all_the_same() -> None:
    door = Door(1, patience_s=0.001)
    coming = [door.come(number) for number in range(3)]
    until(lambda: sorted(door.inside) == [0, 1, 2])
    for number, each in enumerate(coming):
        door.leave(number, each)
    patient = Door(1)
    patient.few = door.few
    again = patient.come(4)
    assert patient.inside == [4]
    patient.leave(4, again)


def test_a_failure_lets_the_next_one_in() -> None:
    few = FewAtOnce(1, patience_s=60)
    for _ in range(3):
        with pytest.raises(ValueError, match="broken"), few.turn(EVENT):
            raise ValueError("broken")
    with few.turn(EVENT):
        pass
