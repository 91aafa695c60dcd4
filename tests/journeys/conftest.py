"""Fixtures: `world` on SQLite, `any_world` on SQLite and PostgreSQL in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.world import World


@pytest.fixture
def world(sqlite_url: str, tmp_path: Path) -> Iterator[World]:
    """A world on SQLite, which is fast."""
    made = World(sqlite_url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def any_world(database_url: str, tmp_path: Path) -> Iterator[World]:
    """A world on each database, for tests in which the database matters."""
    made = World(database_url, tmp_path)
    yield made
    made.close()
