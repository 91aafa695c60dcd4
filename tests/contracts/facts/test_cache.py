"""A cache answers right and loads seldom: in the process, with Redis behind it, and with a Redis that is away."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis

from scripts.throwaway.redis import RedisServer
from sync_server.plumbing.cache import Cache, Keep, Name, of_organisation, public
from sync_server.plumbing.redis_cache import RedisCache
from sync_server.plumbing.redis_line import RedisLine
from tests.contracts.facts.memory import LONG, Process, Source, eventually, nowhere

EVENT = of_organisation("marquee", "event", "e1")
OTHER = of_organisation("marquee", "event", "e2")


@pytest.fixture(params=["in the process", "with redis", "redis away"])
def process(request: pytest.FixtureRequest) -> Process:
    """A process that remembers, in each way in turn."""
    if request.param == "with redis":
        return Process(request.getfixturevalue("redis_url"))
    return Process(nowhere() if request.param == "redis away" else None)


@pytest.fixture(params=["near", "redis alone"])
def cache(request: pytest.FixtureRequest) -> Cache:
    """Each memory by itself."""
    if request.param == "near":
        return Process(None).cache
    line = RedisLine(request.getfixturevalue("redis_url"), lambda: 0)
    return RedisCache(line, "gatehouse", lambda _tier, _known: None)


def test_what_was_looked_up_is_not_looked_up_again(process: Process) -> None:
    source = Source()
    assert [process.cache.fetch(EVENT, LONG, source) for _ in range(5)] == [b"first"] * 5
    assert source.loads == 1
    assert process.looked["near", True] == 4 and process.looked["near", False] == 1


def test_it_is_looked_up_again_when_its_time_is_over(process: Process) -> None:
    source = Source()
    process.cache.fetch(EVENT, Keep(near_s=30), source)
    source.value = b"second"
    process.advance(29)
    assert process.cache.fetch(EVENT, Keep(near_s=30), source) == b"first"
    process.advance(2)
    assert process.cache.fetch(EVENT, Keep(near_s=30), source) == b"second"


def test_what_is_forgotten_is_looked_up_anew_and_nothing_else(cache: Cache) -> None:
    changed, same = Source(), Source(b"same")
    cache.fetch(EVENT, LONG, changed)
    cache.fetch(OTHER, LONG, same)
    changed.value = b"second"
    cache.forget(EVENT)
    assert cache.fetch(EVENT, LONG, changed) == b"second"
    assert cache.fetch(OTHER, LONG, same) == b"same" and same.loads == 1


def test_a_family_is_forgotten_in_one_place_only(cache: Cache) -> None:
    mine, foreign, feed = Source(), Source(b"foreign"), Source(b"feed")
    abroad = of_organisation("rivals", "event", "e1")
    for name, source in ((EVENT, mine), (abroad, foreign), (public("feed", "page 1"), feed)):
        cache.fetch(name, LONG, source)
    mine.value = b"second"
    cache.forget_family(EVENT.place, "event")
    assert cache.fetch(EVENT, LONG, mine) == b"second"
    assert cache.fetch(abroad, LONG, foreign) == b"foreign" and foreign.loads == 1
    assert cache.fetch(public("feed", "page 1"), LONG, feed) == b"feed" and feed.loads == 1


@pytest.mark.parametrize("whole_family", [False, True])
def test_a_change_while_it_is_being_looked_up_is_not_covered_by_the_old_value(cache: Cache, whole_family: bool) -> None:
    def load() -> bytes:
        if whole_family:
            cache.forget_family(EVENT.place, EVENT.family)
        else:
            cache.forget(EVENT)
        return b"read before the change"

    cache.fetch(EVENT, LONG, load)
    assert cache.fetch(EVENT, LONG, Source(b"after it")) == b"after it"


def test_a_crowd_that_asks_at_once_costs_one_look(process: Process) -> None:
    began, go_on = threading.Event(), threading.Event()
    source = Source()

    def slowly() -> bytes:
        began.set()
        assert go_on.wait(30)
        return source()

    with ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(process.cache.fetch, EVENT, LONG, slowly) for _ in range(20)]
        assert began.wait(30)
        go_on.set()
        assert {answer.result(30) for answer in asked} == {b"first"}
    assert source.loads == 1


def test_a_look_that_fails_is_the_askers_trouble_and_spoils_nothing(process: Process) -> None:
    def fail() -> bytes:
        raise LookupError("the event is gone")

    with pytest.raises(LookupError):
        process.cache.fetch(EVENT, LONG, fail)
    assert process.cache.fetch(EVENT, LONG, Source()) == b"first"


def test_processes_share_what_they_know_and_forget_together(redis_url: str) -> None:
    here, there = Process(redis_url), Process(redis_url)
    source = Source()
    with here.running(), there.running():
        here.cache.fetch(EVENT, LONG, source)
        assert there.cache.fetch(EVENT, LONG, source) == b"first"
        assert source.loads == 1 and there.looked["far", True] == 1
        source.value = b"second"
        here.cache.forget(EVENT)
        eventually(lambda: there.cache.fetch(EVENT, LONG, source) == b"second", "the other process forgets")


def test_every_key_says_whose_it_is(redis_url: str) -> None:
    process = Process(redis_url, prefix="house-7")
    process.cache.fetch(EVENT, LONG, Source())
    process.cache.fetch(public("feed", "berlin:1"), LONG, Source())
    process.cache.forget(EVENT)
    with redis.Redis.from_url(redis_url) as line:
        keys = {key.decode() for key in line.scan_iter()}
        assert all(line.ttl(key) > 0 for key in keys)
    assert keys == {
        "house-7:org:{marquee}:event:e1",
        "house-7:org:{marquee}:event:e1#turn",
        "house-7:public:feed:berlin:1",
    }


def test_redis_dies_while_everybody_reads_and_comes_back(redis_server: RedisServer, redis_url: str) -> None:
    """What changed while it was away is not answered with what it still knew."""
    names = [Name("public", "event", str(n)) for n in range(20)]
    source = Source()
    reader, writer = Process(redis_url), Process(redis_url)
    for name in names:
        reader.cache.fetch(name, Keep(near_s=0, far_s=3_000), source)
    redis_server.kill()
    source.value = b"second"
    writer.cache.forget(*names)
    assert {reader.cache.fetch(name, Keep(0, 3_000), source) for name in names} == {b"second"}
    redis_server.start()
    reader.advance(2)
    writer.advance(2)
    loads = source.loads
    assert {reader.cache.fetch(name, Keep(0, 3_000), source) for name in names * 2} == {b"second"}
    assert source.loads - loads == len(names)  # it remembers again


def test_a_network_that_was_cut_leaves_nothing_stale_behind(redis_url: str) -> None:
    """Redis went on living and remembering; only the way to it was lost when something was to be forgotten."""
    name, keep = public("event", "e1"), Keep(near_s=0, far_s=3_000)
    now = [0]
    line = RedisLine(redis_url, lambda: now[0])
    cut_off = RedisCache(line, "gatehouse", lambda _tier, _known: None)
    other = Process(redis_url)
    source = Source()
    cut_off.fetch(name, keep, source)
    source.value = b"second"
    line._lost(ConnectionError("the cable"))
    cut_off.forget(name)
    assert cut_off.fetch(name, keep, source) == b"second"
    now[0] += 2_000_000_000
    assert cut_off.fetch(name, keep, source) == b"second"
    assert other.cache.fetch(name, keep, source) == b"second"
