"""Makes the services of tests/services available to every test, and listens to the statements of the server."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from tests.services.brokers import amqp_url, rabbit_server, redis_server, redis_url
from tests.services.browser import browser, browser_page
from tests.services.client_generator import client_generator
from tests.services.databases import (
    database_url,
    empty_database_url,
    empty_postgres_url,
    empty_sqlite_url,
    migrated_postgres,
    migrated_sqlite,
    postgres_address,
    postgres_server,
    postgres_template,
    postgres_url,
    sqlite_template,
    sqlite_url,
    starting_point,
)
from tests.services.mail_server import mail_box
from tests.services.optional_services import excluded_services
from tests.services.patience import wait_longer_for_redis
from tests.services.shared_work import keep_for_good, seldom_collect_garbage, share_work
from tests.services.stripe_server import localstripe, stripe_front
from tests.services.temporary_files import keep_in_memory
from tests.services.webhook_receiver import receiver
from tests.statements.listener import listen
from tests.statements.plugin import (
    pytest_sessionfinish,
    pytest_terminal_summary,
    pytest_testnodedown,
    statements_name_their_organisation,
)

__all__ = [
    "amqp_url",
    "browser",
    "browser_page",
    "client_generator",
    "database_url",
    "empty_database_url",
    "empty_postgres_url",
    "empty_sqlite_url",
    "localstripe",
    "mail_box",
    "migrated_postgres",
    "migrated_sqlite",
    "postgres_address",
    "postgres_server",
    "postgres_template",
    "postgres_url",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
    "pytest_testnodedown",
    "rabbit_server",
    "receiver",
    "redis_server",
    "redis_url",
    "sqlite_template",
    "sqlite_url",
    "starting_point",
    "statements_name_their_organisation",
    "stripe_front",
]

# A slow machine is not a counterexample; real ones are kept and tried first in the next run.
settings.register_profile(
    "gatehouse",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    database=DirectoryBasedExampleDatabase(".cache/hypothesis"),
)
settings.register_profile("quick", settings.get_profile("gatehouse"), max_examples=10)
settings.register_profile("thorough", settings.get_profile("gatehouse"), max_examples=2_000)
settings.load_profile("gatehouse")
share_work()
seldom_collect_garbage()
listen()
wait_longer_for_redis()


def pytest_configure() -> None:
    """Choose the folder of temporary files, before the first is made."""
    keep_in_memory()


def pytest_collection_finish() -> None:
    """All tests are imported."""
    keep_for_good()


def pytest_report_header(config: pytest.Config) -> str:
    """Report the excluded services, so that nobody takes the run for a complete one."""
    return f"excluded services: {', '.join(sorted(excluded_services())) or 'none'}"
