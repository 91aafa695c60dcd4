"""A house that sells: an event on a layout, on sale."""

from __future__ import annotations

import pytest

from tests.contracts.holds.house import House, a_house
from tests.office import Office


@pytest.fixture
def house(office: Office) -> House:
    """Two rows of eight seats, a floor for three hundred, and an event on sale there."""
    return a_house(office)
