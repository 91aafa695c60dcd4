"""The server whose pages are looked at, and the screen of a gate."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate_app.screen.feed import Feed
from gate_app.screen.server import ScreenServer
from tests.app_server import AppServer


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """A server with a manual clock; pages look the same on every database."""
    made = AppServer(sqlite_url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def feed() -> Feed:
    """What a gate says to its screens."""
    return Feed(time.monotonic_ns)


@pytest.fixture
def server(feed: Feed) -> Iterator[ScreenServer]:
    """The screen of a gate, as anybody on its network sees it."""
    opened = ScreenServer(feed, port=0).open()
    yield opened
    opened.close()
