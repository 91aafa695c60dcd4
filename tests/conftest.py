"""Makes the real parts of tests/services available to every test."""

from __future__ import annotations

import pytest

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


def pytest_report_header(config: pytest.Config) -> str:
    """Say at the top what this run leaves out, so that no one takes it for the whole."""
    return f"parts left out: {', '.join(sorted(left_out())) or 'none'}"
