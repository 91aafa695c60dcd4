"""A world a test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contracts.sync.box_office import a_live_evening
from tests.contracts.sync.world import World
from tests.office import Evening, Office


@pytest.fixture
def world(database_url: str, tmp_path: Path) -> Iterator[World]:
    """A server on a fresh database of each kind in turn."""
    world = World(database_url, tmp_path)
    yield world
    world.close()


@pytest.fixture
def evening(office: Office) -> Evening:
    """A live event of the organisation `marquee`."""
    return a_live_evening(office)
