"""The fixture of the tests of tickets in hand: a shop whose event is on sale."""

from __future__ import annotations

import pytest

from tests.app_server import AppServer
from tests.contracts.checkout.shop_floor import Shop
from tests.starting_points import StartingPoint


@pytest.fixture
def shop(app_server: AppServer, begun_shop: StartingPoint[Shop]) -> Shop:
    """Sixteen seats, a floor for 300, and a ticket type for each."""
    return begun_shop.at(app_server)
