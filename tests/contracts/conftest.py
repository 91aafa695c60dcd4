"""An app server on a fresh database of each kind in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app_server import ApiClient, AppServer, Concert, a_concert


@pytest.fixture
def app_server(database_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """A server whose clock is set by hand."""
    made = AppServer(database_url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def api(app_server: AppServer) -> ApiClient:
    """Somebody with every right in the organisation `marquee`."""
    return app_server.api(app_server.organisation("marquee"))


@pytest.fixture
def concert(api: ApiClient) -> Concert:
    """An event that can issue a hundred tickets."""
    return a_concert(api)
