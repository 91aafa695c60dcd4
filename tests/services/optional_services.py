"""Which services a test run excludes, and which servers of yours it uses instead of private ones."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

import pytest

from scripts.private_services.installed import NotInstalledError
from scripts.processes.child import ProgramFailedError

SERVICES = ("postgresql", "redis", "rabbitmq", "browser", "nginx", "cups")
SKIP = "GATEHOUSE_TEST_SKIP"

Service = TypeVar("Service")


def excluded_services() -> set[str]:
    """The services named in GATEHOUSE_TEST_SKIP; an unknown name is a usage error."""
    named = {name.strip() for name in os.environ.get(SKIP, "").split(",") if name.strip()}
    if unknown := named - set(SERVICES):
        raise pytest.UsageError(f"{SKIP} names {', '.join(sorted(unknown))}; the services are {', '.join(SERVICES)}")
    return named


def skip_if_excluded(service: str) -> None:
    """Skip the test if this run excludes the service."""
    if service in excluded_services():
        pytest.skip(f"{SKIP} excludes {service}")


def configured_url(variable: str) -> str | None:
    """The URL of a server of yours that tests may use, if the variable is set."""
    return os.environ.get(variable) or None


def start_or_fail(service: str, start: Callable[[], Service]) -> Service:
    """Start the service. If this machine cannot, the test fails, because a silent skip would prove nothing."""
    skip_if_excluded(service)
    try:
        return start()
    except (NotInstalledError, ProgramFailedError) as error:
        pytest.fail(f"{service} cannot run here: {error}\nTo exclude it on purpose: {SKIP}={service}", pytrace=False)
