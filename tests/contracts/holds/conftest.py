"""The fixture of the holds tests: an event with numbered seats on sale."""

from __future__ import annotations

import pytest

from tests.app_server import AppServer
from tests.contracts.holds.seated_event import SeatedEvent
from tests.starting_points import StartingPoint


@pytest.fixture
def sale(app_server: AppServer, begun_sale: StartingPoint[SeatedEvent]) -> SeatedEvent:
    """Two rows of eight seats, a floor for 300, and an event on sale there."""
    return begun_sale.at(app_server)
