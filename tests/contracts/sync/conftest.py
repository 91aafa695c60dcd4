"""A fresh world for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app_server import AppServer, Concert
from tests.contracts.sync.office_gates import a_live_evening
from tests.contracts.sync.world import World


@pytest.fixture
def world(database_url: str, tmp_path: Path) -> Iterator[World]:
    """A server on a fresh database of each kind in turn."""
    world = World(database_url, tmp_path)
    yield world
    world.close()


@pytest.fixture
def concert(app_server: AppServer) -> Concert:
    """A live event of the organisation `marquee`."""
    return a_live_evening(app_server)
