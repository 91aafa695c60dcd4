"""The fixture of these tests: a shop that takes cards, cash and transfers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app_server import AppServer
from tests.contracts.checkout.stripe.card_shop import CardShop, a_card_shop
from tests.services.stripe_server import StripeFront


@pytest.fixture
def cards(database_url: str, tmp_path: Path, stripe_front: StripeFront) -> Iterator[CardShop]:
    """A shop that takes cards."""
    app_server = AppServer(database_url, tmp_path, stripe_url=stripe_front.url)
    yield a_card_shop(app_server, stripe_front)
    app_server.close()
