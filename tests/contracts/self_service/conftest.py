"""The fixtures of these tests: a server that sends mail, and a shop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app_server import AppServer
from tests.contracts.checkout.shop_floor import Shop
from tests.services.mail_server import MailBox
from tests.starting_points import StartingPoint


@pytest.fixture
def app_server(database_url: str, tmp_path: Path, mail_box: MailBox) -> Iterator[AppServer]:
    """A server that can send mail."""
    made = AppServer(database_url, tmp_path, mail_url=mail_box.url, base_url="https://gate.example")
    yield made
    made.close()


@pytest.fixture
def shop(app_server: AppServer, begun_shop: StartingPoint[Shop]) -> Shop:
    """Sixteen seats, a floor for 300, and a ticket type for each."""
    return begun_shop.at(app_server)
