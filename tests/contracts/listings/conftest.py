"""Organisers who publish events, on a fresh database of each kind in turn."""

from __future__ import annotations

import pytest

from tests.app_server import AppServer
from tests.contracts.listings.town import Town


@pytest.fixture
def town(app_server: AppServer) -> Town:
    """The organiser `marquee`, and a visitor."""
    return Town(app_server)
