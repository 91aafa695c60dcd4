"""A bus notifies current listeners, in the process or through Redis, and says when something may have been missed."""

from __future__ import annotations

import pytest
from redis import Redis

from scripts.private_services.redis import RedisServer
from sync_server.plumbing.messaging.bus import (
    QUEUE_LIMIT,
    Bus,
    Listener,
    event_topic,
    occupancy_topic,
    organisation_topic,
)
from sync_server.plumbing.messaging.redis_bus import RedisBus
from tests.contracts.facts.memory import Process, eventually, nowhere

TOPIC = organisation_topic("marquee")


@pytest.fixture(params=["in the process", "with redis", "redis away"])
def bus(request: pytest.FixtureRequest) -> Bus:
    """One process's bus of each kind in turn."""
    if request.param == "with redis":
        return Process(request.getfixturevalue("redis_url")).bus
    return Process(nowhere() if request.param == "redis away" else None).bus


def received(listener: Listener) -> list[object]:
    return [note.body["n"] for note in listener.wait(0)]


def test_all_listeners_of_a_topic_receive_it_in_order(bus: Bus) -> None:
    with bus.listen([TOPIC]) as first, bus.listen([TOPIC, event_topic("e1")]) as second, bus.listen(["other"]) as third:
        for n in range(3):
            bus.publish(TOPIC, {"n": n})
        bus.publish(event_topic("e1"), {"n": 9})
        assert received(first) == [0, 1, 2] and received(second) == [0, 1, 2, 9] and received(third) == []


def test_nothing_from_before_or_after_listening_is_received(bus: Bus) -> None:
    bus.publish(TOPIC, {"n": 1})
    listener = bus.listen([TOPIC])
    bus.publish(TOPIC, {"n": 2})
    listener.close()
    bus.publish(TOPIC, {"n": 3})
    assert received(listener) == [2]


def test_a_slow_listener_learns_that_it_missed_something(bus: Bus) -> None:
    with bus.listen([TOPIC]) as listener:
        for n in range(QUEUE_LIMIT + 5):
            bus.publish(TOPIC, {"n": n})
        assert listener.missed() and not listener.missed()
        assert received(listener) == list(range(5, QUEUE_LIMIT + 5))


def test_topics_separate_organisations() -> None:
    assert organisation_topic("a") != organisation_topic("b")
    assert occupancy_topic("a", 7) == "occupancy:a:7" and event_topic("e") == "events:event:e"


def joined(process: Process) -> None:
    assert isinstance(process.bus, RedisBus)
    eventually(process.bus.joined.is_set, "the process hears the others")


def test_processes_receive_each_other_and_nobody_receives_their_own_twice(redis_url: str) -> None:
    here, there = Process(redis_url), Process(redis_url)
    with here.running(), there.running(), here.bus.listen([TOPIC]) as near, there.bus.listen([TOPIC]) as far:
        joined(here)
        joined(there)
        here.bus.publish(TOPIC, {"n": 1})
        there.bus.publish(TOPIC, {"n": 2})
        got_near, got_far = [], []
        eventually(lambda: got_far.extend(received(far)) or len(got_far) == 2, "the far one receives both")
        eventually(lambda: got_near.extend(received(near)) or len(got_near) == 2, "the near one receives both")
        assert sorted(got_near) == sorted(got_far) == [1, 2]


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"from": "a stranger"}', b'{"from": "a", "notes": [7]}'])
def test_unreadable_messages_do_not_stop_the_listener(redis_url: str, data: bytes) -> None:
    """Another version of the product may share the channel while one is exchanged for the other."""
    here, there = Process(redis_url), Process(redis_url)
    with there.running(), there.bus.listen([TOPIC]) as far, Redis.from_url(redis_url) as stranger:
        joined(there)
        eventually(far.missed, "whoever listens looks once, for what was told before")
        stranger.publish("gatehouse:bus", data)
        eventually(far.missed, "something was said, so whoever listens looks")
        here.bus.publish(TOPIC, {"n": 1})
        got: list[object] = []
        eventually(lambda: got.extend(received(far)) or got == [1], "messages of others still arrive")


def test_installations_that_share_a_redis_do_not_receive_each_other(redis_url: str) -> None:
    ours, theirs = Process(redis_url), Process(redis_url, prefix="another-house")
    with ours.running(), theirs.running(), theirs.bus.listen([TOPIC]) as listener:
        joined(ours)
        joined(theirs)
        ours.bus.publish(TOPIC, {"n": 1})
        theirs.bus.publish(TOPIC, {"n": 2})
        assert received(listener) == [2]


def test_redis_dies_and_comes_back_while_processes_talk(redis_server: RedisServer, redis_url: str) -> None:
    here, there = Process(redis_url), Process(redis_url)
    with here.running(), there.running(), here.bus.listen([TOPIC]) as near, there.bus.listen([TOPIC]) as far:
        joined(here)
        joined(there)
        near.missed()
        far.missed()
        redis_server.kill()
        here.bus.publish(TOPIC, {"n": 1})
        assert received(near) == [1]  # nothing is lost within the process
        redis_server.start()
        eventually(far.missed, "the other process is told to look anew")
        here.advance(2)
        joined(there)
        here.bus.publish(TOPIC, {"n": 2})
        got: list[object] = []
        eventually(lambda: got.extend(received(far)) or got == [2], "they receive each other again")
