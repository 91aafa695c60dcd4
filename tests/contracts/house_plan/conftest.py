"""An office with a house that has a map."""

from __future__ import annotations

import pytest

from tests.contracts.house_plan.house import House, a_house
from tests.office import Desk, Office


@pytest.fixture
def house(office: Office, desk: Desk) -> House:
    """Two rows of eight and a floor, on sale."""
    return a_house(office, desk)
