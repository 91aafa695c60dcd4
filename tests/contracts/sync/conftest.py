"""A world a test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contracts.sync.world import World


@pytest.fixture
def world(database_url: str, tmp_path: Path) -> Iterator[World]:
    """A server on a fresh database of each kind in turn."""
    world = World(database_url, tmp_path)
    yield world
    world.close()
