"""An app server whose venue has a layout."""

from __future__ import annotations

import pytest

from tests.app_server import ApiClient, AppServer
from tests.contracts.seating.stage import Stage, a_stage


@pytest.fixture
def stage(app_server: AppServer, api: ApiClient) -> Stage:
    """An event at a venue with an active layout."""
    return a_stage(app_server, api)
