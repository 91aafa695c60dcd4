"""Fixtures for the optional services of the server: `redis_url` and `amqp_url`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from scripts.private_services.rabbit import RabbitServer
from scripts.private_services.redis import RedisServer
from tests.services.optional_services import configured_url, skip_if_excluded, start_or_fail

__all__ = ["amqp_url", "rabbit_server", "redis_server", "redis_url"]


def _started_redis() -> RedisServer:
    server = RedisServer()
    server.start()
    return server


def _started_rabbit() -> RabbitServer:
    server = RabbitServer()
    server.start()
    return server


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """A private Redis that a test may stop, start and kill, never one of yours; leave it running."""
    server = start_or_fail("redis", _started_redis)
    yield server
    server.remove()


@pytest.fixture
def redis_url(request: pytest.FixtureRequest) -> str:
    """An empty Redis; one of yours, named by GATEHOUSE_TEST_REDIS_URL, is used as it is and never emptied."""
    skip_if_excluded("redis")
    if configured := configured_url("GATEHOUSE_TEST_REDIS_URL"):
        return configured
    url = str(request.getfixturevalue("redis_server").url)
    with redis.Redis.from_url(url) as client:
        client.flushall()
    return url


@pytest.fixture(scope="session")
def rabbit_server() -> Iterator[RabbitServer]:
    """A private RabbitMQ that a test may stop, start and kill, never one of yours; leave it running."""
    server = start_or_fail("rabbitmq", _started_rabbit)
    yield server
    server.remove()


@pytest.fixture
def amqp_url(request: pytest.FixtureRequest) -> str:
    """An empty virtual host; one of yours, named by GATEHOUSE_TEST_AMQP_URL, is used as it is."""
    skip_if_excluded("rabbitmq")
    return configured_url("GATEHOUSE_TEST_AMQP_URL") or str(request.getfixturevalue("rabbit_server").new_vhost())
