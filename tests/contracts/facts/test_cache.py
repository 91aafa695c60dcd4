"""A cache is correct and loads rarely: in the process, with Redis behind it, and with a Redis that is away."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis

from scripts.private_services.redis import RedisServer
from sync_server.plumbing.caching.cache import Cache, CacheKey, CacheLifetime, organisation_key, public_key
from sync_server.plumbing.caching.redis_cache import RedisCache
from sync_server.plumbing.redis_connection import RedisConnection
from tests.contracts.facts.memory import LONG, Process, Source, eventually, nowhere

EVENT = organisation_key("marquee", "event", "e1")
OTHER = organisation_key("marquee", "event", "e2")


@pytest.fixture(params=["in the process", "with redis", "redis away"])
def process(request: pytest.FixtureRequest) -> Process:
    """A process with each kind of cache in turn."""
    if request.param == "with redis":
        return Process(request.getfixturevalue("redis_url"))
    return Process(nowhere() if request.param == "redis away" else None)


@pytest.fixture(params=["near", "redis alone"])
def cache(request: pytest.FixtureRequest) -> Cache:
    """Each kind of cache."""
    if request.param == "near":
        return Process(None).cache
    connection = RedisConnection(request.getfixturevalue("redis_url"), lambda: 0)
    return RedisCache(connection, "gatehouse", lambda _tier, _known: None)


def test_a_cached_value_is_not_loaded_again(process: Process) -> None:
    source = Source()
    assert [process.cache.fetch(EVENT, LONG, source) for _ in range(5)] == [b"first"] * 5
    assert source.loads == 1
    assert process.looked["near", True] == 4 and process.looked["near", False] == 1


def test_an_expired_value_is_loaded_again(process: Process) -> None:
    source = Source()
    process.cache.fetch(EVENT, CacheLifetime(local_s=30), source)
    source.value = b"second"
    process.advance(29)
    assert process.cache.fetch(EVENT, CacheLifetime(local_s=30), source) == b"first"
    process.advance(2)
    assert process.cache.fetch(EVENT, CacheLifetime(local_s=30), source) == b"second"


def test_only_what_was_invalidated_is_loaded_again(cache: Cache) -> None:
    changed, same = Source(), Source(b"same")
    cache.fetch(EVENT, LONG, changed)
    cache.fetch(OTHER, LONG, same)
    changed.value = b"second"
    cache.invalidate(EVENT)
    assert cache.fetch(EVENT, LONG, changed) == b"second"
    assert cache.fetch(OTHER, LONG, same) == b"same" and same.loads == 1


def test_a_family_is_invalidated_in_one_scope_only(cache: Cache) -> None:
    mine, foreign, feed = Source(), Source(b"foreign"), Source(b"feed")
    abroad = organisation_key("rivals", "event", "e1")
    for name, source in ((EVENT, mine), (abroad, foreign), (public_key("feed", "page 1"), feed)):
        cache.fetch(name, LONG, source)
    mine.value = b"second"
    cache.invalidate_family(EVENT.scope, "event")
    assert cache.fetch(EVENT, LONG, mine) == b"second"
    assert cache.fetch(abroad, LONG, foreign) == b"foreign" and foreign.loads == 1
    assert cache.fetch(public_key("feed", "page 1"), LONG, feed) == b"feed" and feed.loads == 1


@pytest.mark.parametrize("whole_family", [False, True])
def test_a_change_during_a_load_is_not_hidden_by_the_old_value(cache: Cache, whole_family: bool) -> None:
    def load() -> bytes:
        if whole_family:
            cache.invalidate_family(EVENT.scope, EVENT.family)
        else:
            cache.invalidate(EVENT)
        return b"read before the change"

    cache.fetch(EVENT, LONG, load)
    assert cache.fetch(EVENT, LONG, Source(b"after it")) == b"after it"


def test_many_concurrent_requests_cost_one_load(process: Process) -> None:
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


def test_a_failed_load_raises_and_leaves_the_cache_usable(process: Process) -> None:
    def fail() -> bytes:
        raise LookupError("the event is gone")

    with pytest.raises(LookupError):
        process.cache.fetch(EVENT, LONG, fail)
    assert process.cache.fetch(EVENT, LONG, Source()) == b"first"


def test_processes_share_values_and_invalidations(redis_url: str) -> None:
    here, there = Process(redis_url), Process(redis_url)
    source = Source()
    with here.running(), there.running():
        here.cache.fetch(EVENT, LONG, source)
        assert there.cache.fetch(EVENT, LONG, source) == b"first"
        assert source.loads == 1 and there.looked["far", True] == 1
        source.value = b"second"
        here.cache.invalidate(EVENT)
        eventually(lambda: there.cache.fetch(EVENT, LONG, source) == b"second", "the other process forgets")


def test_every_key_says_whose_it_is(redis_url: str) -> None:
    process = Process(redis_url, prefix="house-7")
    process.cache.fetch(EVENT, LONG, Source())
    process.cache.fetch(public_key("feed", "berlin:1"), LONG, Source())
    process.cache.invalidate(EVENT)
    with redis.Redis.from_url(redis_url) as connection:
        keys = {key.decode() for key in connection.scan_iter()}
        assert all(connection.ttl(key) > 0 for key in keys)
    assert keys == {
        "house-7:org:{marquee}:event:e1",
        "house-7:org:{marquee}:event:e1#turn",
        "house-7:public:feed:berlin:1",
    }


def test_redis_dies_while_everybody_reads_and_comes_back(redis_server: RedisServer, redis_url: str) -> None:
    """Values that changed while Redis was away are not served from it afterwards."""
    names = [CacheKey("public", "event", str(n)) for n in range(20)]
    source = Source()
    reader, writer = Process(redis_url), Process(redis_url)
    for name in names:
        reader.cache.fetch(name, CacheLifetime(local_s=0, redis_s=3_000), source)
    redis_server.kill()
    source.value = b"second"
    writer.cache.invalidate(*names)
    assert {reader.cache.fetch(name, CacheLifetime(0, 3_000), source) for name in names} == {b"second"}
    redis_server.start()
    reader.advance(2)
    writer.advance(2)
    loads = source.loads
    assert {reader.cache.fetch(name, CacheLifetime(0, 3_000), source) for name in names * 2} == {b"second"}
    assert source.loads - loads == len(names)  # it remembers again


def test_a_network_that_was_cut_leaves_nothing_stale_behind(redis_url: str) -> None:
    """Redis kept its values; only the connection was down when something was invalidated."""
    name, keep = public_key("event", "e1"), CacheLifetime(local_s=0, redis_s=3_000)
    now = [0]
    connection = RedisConnection(redis_url, lambda: now[0])
    cut_off = RedisCache(connection, "gatehouse", lambda _tier, _known: None)
    other = Process(redis_url)
    source = Source()
    cut_off.fetch(name, keep, source)
    source.value = b"second"
    connection._lost(ConnectionError("the cable"))
    cut_off.invalidate(name)
    assert cut_off.fetch(name, keep, source) == b"second"
    now[0] += 2_000_000_000
    assert cut_off.fetch(name, keep, source) == b"second"
    assert other.cache.fetch(name, keep, source) == b"second"
