"""The server whose pages are looked at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app_server import AppServer


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """A server with a manual clock; pages look the same on every database."""
    made = AppServer(sqlite_url, tmp_path)
    yield made
    made.close()
