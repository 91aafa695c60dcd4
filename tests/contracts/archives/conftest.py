"""An app server at which an evening is over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app_server import AppServer
from tests.contracts.archives.evening import Evening, an_evening


@pytest.fixture
def app_server(database_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """A server with a folder for archives."""
    made = AppServer(database_url, tmp_path, archives_folder=tmp_path / "archives")
    yield made
    made.close()


@pytest.fixture
def evening(app_server: AppServer) -> Evening:
    """An event that is over and settled."""
    return an_evening(app_server)
