"""A bus tells whoever listens now, in the process or through Redis, and says when something may have been missed."""

from __future__ import annotations

import pytest
from redis import Redis

from scripts.throwaway.redis import RedisServer
from sync_server.plumbing.bus import KEPT, Bus, Listener, of_event, of_occupancy, of_organisation
from sync_server.plumbing.redis_bus import RedisBus
from tests.contracts.facts.memory import Process, eventually, nowhere

TOPIC = of_organisation("marquee")


@pytest.fixture(params=["in the process", "with redis", "redis away"])
def bus(request: pytest.FixtureRequest) -> Bus:
    """One process's bus, in each way in turn: each hears itself."""
    if request.param == "with redis":
        return Process(request.getfixturevalue("redis_url")).bus
    return Process(nowhere() if request.param == "redis away" else None).bus


def heard(listener: Listener) -> list[object]:
    return [note.body["n"] for note in listener.wait(0)]


def test_a_topic_is_heard_in_order_by_all_who_listen_to_it(bus: Bus) -> None:
    with bus.listen([TOPIC]) as first, bus.listen([TOPIC, of_event("e1")]) as second, bus.listen(["other"]) as third:
        for n in range(3):
            bus.tell(TOPIC, {"n": n})
        bus.tell(of_event("e1"), {"n": 9})
        assert heard(first) == [0, 1, 2] and heard(second) == [0, 1, 2, 9] and heard(third) == []


def test_what_was_told_before_or_after_listening_is_not_heard(bus: Bus) -> None:
    bus.tell(TOPIC, {"n": 1})
    listener = bus.listen([TOPIC])
    bus.tell(TOPIC, {"n": 2})
    listener.close()
    bus.tell(TOPIC, {"n": 3})
    assert heard(listener) == [2]


def test_a_listener_that_dozes_is_told_that_it_missed_something(bus: Bus) -> None:
    with bus.listen([TOPIC]) as listener:
        for n in range(KEPT + 5):
            bus.tell(TOPIC, {"n": n})
        assert listener.missed() and not listener.missed()
        assert heard(listener) == list(range(5, KEPT + 5))


def test_topics_keep_organisations_apart() -> None:
    assert of_organisation("a") != of_organisation("b")
    assert of_occupancy("a", 7) == "occupancy:a:7" and of_event("e") == "events:event:e"


def joined(process: Process) -> None:
    assert isinstance(process.bus, RedisBus)
    eventually(process.bus.joined.is_set, "the process hears the others")


def test_processes_hear_each_other_and_nobody_hears_themselves_twice(redis_url: str) -> None:
    here, there = Process(redis_url), Process(redis_url)
    with here.running(), there.running(), here.bus.listen([TOPIC]) as near, there.bus.listen([TOPIC]) as far:
        joined(here)
        joined(there)
        here.bus.tell(TOPIC, {"n": 1})
        there.bus.tell(TOPIC, {"n": 2})
        got_near, got_far = [], []
        eventually(lambda: got_far.extend(heard(far)) or len(got_far) == 2, "the far one hears both")
        eventually(lambda: got_near.extend(heard(near)) or len(got_near) == 2, "the near one hears both")
        assert sorted(got_near) == sorted(got_far) == [1, 2]


@pytest.mark.parametrize("words", [b"{", b"[]", b'{"from": "a stranger"}', b'{"from": "a", "notes": [7]}'])
def test_words_that_nobody_understands_deafen_nobody(redis_url: str, words: bytes) -> None:
    """Another version of the product may share the channel while one is exchanged for the other."""
    here, there = Process(redis_url), Process(redis_url)
    with there.running(), there.bus.listen([TOPIC]) as far, Redis.from_url(redis_url) as stranger:
        joined(there)
        eventually(far.missed, "whoever listens looks once, for what was told before")
        stranger.publish("gatehouse:bus", words)
        eventually(far.missed, "something was said, so whoever listens looks")
        here.bus.tell(TOPIC, {"n": 1})
        got: list[object] = []
        eventually(lambda: got.extend(heard(far)) or got == [1], "the others are still heard")


def test_installations_that_share_a_redis_do_not_hear_each_other(redis_url: str) -> None:
    ours, theirs = Process(redis_url), Process(redis_url, prefix="another-house")
    with ours.running(), theirs.running(), theirs.bus.listen([TOPIC]) as listener:
        joined(ours)
        joined(theirs)
        ours.bus.tell(TOPIC, {"n": 1})
        theirs.bus.tell(TOPIC, {"n": 2})
        assert heard(listener) == [2]


def test_redis_dies_and_comes_back_while_processes_talk(redis_server: RedisServer, redis_url: str) -> None:
    here, there = Process(redis_url), Process(redis_url)
    with here.running(), there.running(), here.bus.listen([TOPIC]) as near, there.bus.listen([TOPIC]) as far:
        joined(here)
        joined(there)
        near.missed()
        far.missed()
        redis_server.kill()
        here.bus.tell(TOPIC, {"n": 1})
        assert heard(near) == [1]  # at home nothing is lost
        redis_server.start()
        eventually(far.missed, "the other process is told to look anew")
        here.advance(2)
        joined(there)
        here.bus.tell(TOPIC, {"n": 2})
        got: list[object] = []
        eventually(lambda: got.extend(heard(far)) or got == [2], "they hear each other again")
