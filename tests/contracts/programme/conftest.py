"""A town whose houses publish events, on a fresh database of each kind in turn."""

from __future__ import annotations

import pytest

from tests.contracts.programme.town import Town
from tests.office import Office


@pytest.fixture
def town(office: Office) -> Town:
    """Where the house `marquee` publishes, and visitors look."""
    return Town(office)
