"""Makes the real parts of tests/services available to every test."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from tests.services.brokers import amqp_url, rabbit_server, redis_server, redis_url
from tests.services.browser import browser, browser_page
from tests.services.databases import database_url, postgres_server, postgres_url, sqlite_url
from tests.services.parts import left_out

__all__ = [
    "amqp_url",
    "browser",
    "browser_page",
    "database_url",
    "postgres_server",
    "postgres_url",
    "rabbit_server",
    "redis_server",
    "redis_url",
    "sqlite_url",
]

# A slow machine is no counterexample; what was one is tried first in the next run.
settings.register_profile(
    "house",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    database=DirectoryBasedExampleDatabase(".cache/hypothesis"),
)
settings.load_profile("house")


def pytest_report_header(config: pytest.Config) -> str:
    """Say at the top what this run leaves out, so that no one takes it for the whole."""
    return f"parts left out: {', '.join(sorted(left_out())) or 'none'}"
