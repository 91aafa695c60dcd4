"""The head notifier wakes those who wait, and nobody else; it looks for what the bus may have missed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping

import pytest

from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.messaging.bus import LocalBus
from sync_server.revisions.head_notifier import HeadNotifier, HeadPosition

GO_ON = threading.Event()
ONE, TWO = EventKey("organisation", "one"), EventKey("organisation", "two")


class Heads:
    """What the database would say."""

    def __init__(self) -> None:
        self.heads: dict[EventKey, HeadPosition] = {ONE: (3, 0), TWO: (1, 0)}
        self.looks = 0

    def __call__(self, events: Iterable[EventKey]) -> Mapping[EventKey, HeadPosition]:
        self.looks += 1
        return {event: self.heads[event] for event in events if event in self.heads}


@pytest.fixture
def heads() -> Heads:
    return Heads()


@pytest.fixture
def bus() -> LocalBus:
    return LocalBus()


@pytest.fixture
def head_notifier(heads: Heads, bus: LocalBus) -> HeadNotifier:
    return HeadNotifier(heads, time.monotonic_ns, bus)


def waiting(
    head_notifier: HeadNotifier, seen: Mapping[EventKey, HeadPosition], stop: threading.Event = GO_ON
) -> tuple[threading.Thread, list[bool]]:
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(head_notifier.wait(seen, 30, stop)))
    thread.start()
    return thread, answers


def test_an_outdated_position_does_not_wait(head_notifier: HeadNotifier) -> None:
    assert head_notifier.wait({ONE: (2, 0)}, 30, GO_ON)
    assert head_notifier.wait({ONE: (3, 0), TWO: (0, 0)}, 30, GO_ON)


def test_a_current_position_waits_until_the_timeout(head_notifier: HeadNotifier) -> None:
    assert not head_notifier.wait({ONE: (3, 0)}, 0, GO_ON)
    assert not head_notifier.wait({}, 0, GO_ON)


@pytest.mark.parametrize("news", [{"revision": 4}, {"arrivals": 1}])
def test_a_commit_wakes_those_who_wait_for_its_event(head_notifier: HeadNotifier, news: dict[str, int]) -> None:
    thread, answers = waiting(head_notifier, {ONE: (3, 0), TWO: (1, 0)})
    head_notifier.notify(ONE, **news)
    thread.join(30)
    assert answers == [True]


def test_what_the_bus_may_have_missed_is_looked_for(head_notifier: HeadNotifier, heads: Heads, bus: LocalBus) -> None:
    thread, answers = waiting(head_notifier, {ONE: (3, 0)})
    heads.heads[ONE] = (4, 0)
    bus.mark_missed()
    thread.join(30)
    assert answers == [True]


def test_a_stop_ends_all_waits(head_notifier: HeadNotifier) -> None:
    stop = threading.Event()
    thread, answers = waiting(head_notifier, {ONE: (3, 0)}, stop)
    stop.set()
    head_notifier.wake_all()
    thread.join(30)
    assert answers == [False]


def test_an_older_head_is_ignored(head_notifier: HeadNotifier) -> None:
    head_notifier.notify(ONE, revision=9)
    head_notifier.notify(ONE, revision=4)
    assert head_notifier.wait({ONE: (8, 0)}, 0, GO_ON) and not head_notifier.wait({ONE: (9, 0)}, 0, GO_ON)


def test_many_waiting_threads_share_one_poll(head_notifier: HeadNotifier, heads: Heads) -> None:
    crowd = [waiting(head_notifier, {ONE: (3, 0)}) for _ in range(20)]
    head_notifier.notify(ONE, revision=4)
    for thread, _ in crowd:
        thread.join(30)
    assert all(answers == [True] for _, answers in crowd) and heads.looks < 20
