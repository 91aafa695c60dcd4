"""An office whose venue has a layout."""

from __future__ import annotations

import pytest

from tests.contracts.seating.stage import Stage, a_stage
from tests.office import Desk, Office


@pytest.fixture
def stage(office: Office, desk: Desk) -> Stage:
    """An event in a house with an active layout."""
    return a_stage(office, desk)
