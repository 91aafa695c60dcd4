"""One load serves a crowd; nobody is served what was loaded before they asked, or what was forgotten."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from sync_server.plumbing.caching.shared_loads import SharedLoads

CROWD = 8
Loads = SharedLoads[str, int]


class Source:
    """Counts loads; each waits at the door until it is opened."""

    def __init__(self) -> None:
        self.loads, self.begun, self.door = 0, threading.Semaphore(0), threading.Event()
        self.failing = False

    def load(self) -> int:
        self.loads += 1
        number = self.loads
        self.begun.release()
        assert self.door.wait(60)
        if self.failing:
            raise ValueError(f"load {number} failed")
        return number


@pytest.fixture
def source() -> Source:
    return Source()


def crowd(pool: ThreadPoolExecutor, ask: Callable[[], int]) -> list[Future[int]]:
    """So many who ask, all of them under way."""
    asking = threading.Barrier(CROWD + 1)

    def one() -> int:
        asking.wait(60)
        return ask()

    futures = [pool.submit(one) for _ in range(CROWD)]
    asking.wait(60)
    return futures


def test_one_load_serves_all_who_wait(source: Source) -> None:
    loads = Loads(10)
    with ThreadPoolExecutor(CROWD) as pool:
        futures = crowd(pool, lambda: loads.get("a", source.load))
        source.begun.acquire()
        source.door.set()
        assert {future.result(60) for future in futures} == {1}
    assert (loads.get("a", source.load), loads.get("b", source.load), source.loads) == (1, 2, 2)


def test_a_failure_is_shared_by_those_who_waited_and_by_nobody_after(source: Source) -> None:
    loads, since = Loads(10), 0
    source.failing = True
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(loads.get, "a", source.load, since=since)
        source.begun.acquire()
        waiting = pool.submit(loads.get, "a", source.load, since=since)
        assert loads.started_at("a") == 1
        source.door.set()
        assert all(isinstance(each.exception(60), ValueError) for each in (first, waiting))
    source.failing = False
    assert loads.get("a", source.load) == source.loads


def test_what_was_loaded_before_one_asked_is_not_enough(source: Source) -> None:
    loads = Loads(10)
    source.door.set()
    assert loads.get("a", source.load, since=loads.now()) == 1
    asked_at = loads.now()
    assert loads.get("a", source.load) == 1
    assert loads.get("a", source.load, since=asked_at) == 2
    assert loads.get("a", source.load, since=asked_at) == 2, "the load for the first serves the second"


def test_a_load_that_began_before_one_asked_is_waited_for_but_not_used(source: Source) -> None:
    loads = Loads(10)
    with ThreadPoolExecutor(1 + CROWD) as pool:
        early = pool.submit(loads.get, "a", source.load)
        source.begun.acquire()
        asked_at = loads.now()
        late = crowd(pool, lambda: loads.get("a", source.load, since=asked_at))
        source.door.set()
        assert early.result(60) == 1
        assert {future.result(60) for future in late} == {2}


def test_what_is_forgotten_while_it_loads_is_not_kept(source: Source) -> None:
    loads = Loads(10)
    with ThreadPoolExecutor(1) as pool:
        stale = pool.submit(loads.get, "a", source.load)
        source.begun.acquire()
        loads.forget("a")
        source.door.set()
        assert stale.result(60) == 1
    assert loads.peek("a") is None
    assert loads.get("a", source.load) == 2
    loads.forget_where(lambda key: key == "a")
    assert loads.get("a", source.load) == 3


def test_the_value_before_is_at_hand_while_another_is_loaded(source: Source) -> None:
    loads = Loads(10)
    source.door.set()
    loads.get("a", source.load)
    source.door.clear()
    source.begun = threading.Semaphore(0)
    with ThreadPoolExecutor(1) as pool:
        newer = pool.submit(loads.get, "a", source.load, since=loads.now())
        source.begun.acquire()
        assert loads.peek("a") == 1
        source.door.set()
        assert newer.result(60) == loads.peek("a") == 2


def test_the_values_used_longest_ago_make_room(source: Source) -> None:
    loads = Loads(2)
    source.door.set()
    for key in ("a", "b", "a", "c"):
        loads.get(key, source.load)
    assert [loads.peek(key) for key in "abc"] == [1, None, 3]


def test_heavy_values_make_room_by_weight() -> None:
    loads = Loads(10, weigh=lambda value: value)
    for key, value in (("a", 4), ("b", 4), ("c", 5)):
        loads.get(key, lambda value=value: value)
    assert [loads.peek(key) for key in "abc"] == [None, 4, 5]
    loads.forget("b")
    for key, value in (("d", 5), ("e", 99)):
        loads.get(key, lambda value=value: value)
    assert [loads.peek(key) for key in "cde"] == [None, None, 99], "the latest stays, however heavy"
