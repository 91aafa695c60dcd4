"""The bell wakes those who wait, and nobody else; it looks for what other processes committed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping

import pytest

from sync_server.revisions.bell import Bell, Seen

GO_ON = threading.Event()


class Heads:
    """What the database would say."""

    def __init__(self) -> None:
        self.heads: dict[int, Seen] = {1: (3, 0), 2: (1, 0)}
        self.looks = 0

    def __call__(self, events: Iterable[int]) -> Mapping[int, Seen]:
        self.looks += 1
        return {event: self.heads[event] for event in events if event in self.heads}


@pytest.fixture
def heads() -> Heads:
    return Heads()


@pytest.fixture
def bell(heads: Heads) -> Bell:
    return Bell(heads, time.monotonic_ns)


def waiting(bell: Bell, seen: Mapping[int, Seen], stop: threading.Event = GO_ON) -> tuple[threading.Thread, list[bool]]:
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(bell.wait(seen, 30, stop)))
    thread.start()
    return thread, answers


def test_whoever_is_behind_does_not_wait(bell: Bell) -> None:
    assert bell.wait({1: (2, 0)}, 30, GO_ON)
    assert bell.wait({1: (3, 0), 2: (0, 0)}, 30, GO_ON)


def test_whoever_knows_all_waits_until_the_time_is_over(bell: Bell) -> None:
    assert not bell.wait({1: (3, 0)}, 0, GO_ON)
    assert not bell.wait({}, 0, GO_ON)


@pytest.mark.parametrize("news", [{"revision": 4}, {"arrivals": 1}])
def test_a_commit_wakes_who_waits_for_its_event(bell: Bell, news: dict[str, int]) -> None:
    thread, answers = waiting(bell, {1: (3, 0), 2: (1, 0)})
    bell.ring(1, **news)
    thread.join(30)
    assert answers == [True]


def test_what_another_process_committed_is_found(bell: Bell, heads: Heads) -> None:
    thread, answers = waiting(bell, {1: (3, 0)})
    heads.heads[1] = (4, 0)
    thread.join(30)
    assert answers == [True]


def test_a_stop_ends_all_waiting(bell: Bell) -> None:
    stop = threading.Event()
    thread, answers = waiting(bell, {1: (3, 0)}, stop)
    stop.set()
    bell.wake_all()
    thread.join(30)
    assert answers == [False]


def test_old_news_is_no_news(bell: Bell) -> None:
    bell.ring(1, revision=9)
    bell.ring(1, revision=4)
    assert bell.wait({1: (8, 0)}, 0, GO_ON) and not bell.wait({1: (9, 0)}, 0, GO_ON)


def test_many_who_wait_look_together_not_each(bell: Bell, heads: Heads) -> None:
    crowd = [waiting(bell, {1: (3, 0)}) for _ in range(20)]
    bell.ring(1, revision=4)
    for thread, _ in crowd:
        thread.join(30)
    assert all(answers == [True] for _, answers in crowd) and heads.looks < 20
