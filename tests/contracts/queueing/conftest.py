"""The fixture of the queue tests: an event whose sale begins in an hour, with a queue."""

from __future__ import annotations

import pytest

from tests.app_server import AppServer
from tests.contracts.queueing.rush import Rush, a_rush


@pytest.fixture
def rush(app_server: AppServer) -> Rush:
    """An event with a waiting room that opens half an hour before the sale."""
    return a_rush(app_server)
