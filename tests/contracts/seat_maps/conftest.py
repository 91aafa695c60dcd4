"""An event with a seat map."""

from __future__ import annotations

import pytest

from tests.app_server import ApiClient, AppServer
from tests.contracts.seat_maps.mapped_event import MappedEvent, a_mapped_event


@pytest.fixture
def mapped(app_server: AppServer, api: ApiClient) -> MappedEvent:
    """An event on sale: two rows of eight seats and a standing area."""
    return a_mapped_event(app_server, api)
