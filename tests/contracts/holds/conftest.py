"""The fixture of the holds tests: an event with numbered seats on sale."""

from __future__ import annotations

import pytest

from tests.app_server import AppServer
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event


@pytest.fixture
def sale(app_server: AppServer) -> SeatedEvent:
    """Two rows of eight seats, a floor for 300, and an event on sale there."""
    return a_seated_event(app_server)
