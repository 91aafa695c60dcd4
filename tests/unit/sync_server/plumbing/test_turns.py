"""Who waits together is served together, and in a rush the next leader waits for as many as there were."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from sync_server.plumbing.sql.turns import Batch, Queue, Turns


class Stage:
    """Turns that double numbers, and stop where a test holds the door shut."""

    def __init__(self, gather_s: float = 0) -> None:
        self.turns: Turns[int, int] = Turns(Queue(8), self.serve, gather_s=gather_s)
        self.door = threading.Event()
        self.served: list[list[int]] = []
        self.threads = ThreadPoolExecutor(8)

    def serve(self, take: Callable[[], Batch[int, int]]) -> None:
        batch = take()
        self.served.append([each.wanted for each in batch])
        self.door.wait(60)
        for each in batch:
            each.result = each.wanted * 2

    def ask(self, number: int) -> Future[int | None]:
        asked = self.threads.submit(self._run, number)
        self.until(lambda: number in self.waiting or any(number in each for each in self.served))
        return asked

    @property
    def waiting(self) -> list[int]:
        return [each.wanted for each in [*self.turns.queue.waiting]]

    def _run(self, number: int) -> int | None:
        found = self.turns.run(number)
        return found.result if found is not None else None

    @staticmethod
    def until(reached: Callable[[], bool]) -> None:
        for _ in range(6_000):
            if reached():
                return
            threading.Event().wait(0.01)
        raise AssertionError("it was not reached")

    def rush(self) -> None:
        """One is served, and then two who came meanwhile."""
        asked = [self.ask(number) for number in (1, 2, 3)]
        self.door.set()
        assert [each.result(60) for each in asked] == [2, 4, 6]
        assert self.served == [[1], [2, 3]]


def test_those_who_come_meanwhile_are_served_together() -> None:
    Stage().rush()


def test_after_a_rush_a_leader_waits_for_as_many_as_there_were() -> None:
    stage = Stage(gather_s=60)
    stage.rush()
    first = stage.ask(4)
    assert stage.waiting == [4]  # nobody but its own thread could serve it
    assert [stage.ask(5).result(60), first.result(60)] == [10, 8]
    assert stage.served[2:] == [[4, 5]]


def test_whoever_comes_alone_after_a_rush_waits_that_once_only() -> None:
    stage = Stage(gather_s=0.001)
    stage.rush()
    assert [stage.ask(number).result(60) for number in (4, 5)] == [8, 10]
    assert stage.served[2:] == [[4], [5]]
