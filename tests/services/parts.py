"""Which real parts a run may leave out, and which servers of yours it may use instead of private ones."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

import pytest

from scripts.processes.child import ProgramFailedError
from scripts.throwaway.installed import NotInstalledError

PARTS = ("postgresql", "redis", "rabbitmq", "browser")
SKIP = "GATEHOUSE_TEST_SKIP"

Part = TypeVar("Part")


def left_out() -> set[str]:
    """The parts named by GATEHOUSE_TEST_SKIP; a word that names none is a mistake worth stopping for."""
    named = {word.strip() for word in os.environ.get(SKIP, "").split(",") if word.strip()}
    if unknown := named - set(PARTS):
        raise pytest.UsageError(f"{SKIP} names {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}")
    return named


def skip_if_left_out(part: str) -> None:
    """Skip the test that asks for a part which this run leaves out."""
    if part in left_out():
        pytest.skip(f"{SKIP} leaves out {part}")


def named_server(variable: str) -> str | None:
    """The address of a server of yours that tests may use."""
    return os.environ.get(variable) or None


def opened(part: str, make: Callable[[], Part]) -> Part:
    """What `make` makes; when this machine cannot, the test fails in words, because a silent skip proves nothing."""
    skip_if_left_out(part)
    try:
        return make()
    except (NotInstalledError, ProgramFailedError) as trouble:
        pytest.fail(f"{part} cannot run here: {trouble}\nTo leave it out on purpose: {SKIP}={part}", pytrace=False)
