"""A shop whose server sends mails to a mail server that keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app_server import AppServer
from tests.contracts.checkout.shop_floor import ACCOUNT, Shop
from tests.services.mail_server import MailBox
from tests.starting_points import StartingPoint


@pytest.fixture
def app_server(database_url: str, tmp_path: Path, mail_box: MailBox) -> Iterator[AppServer]:
    made = AppServer(database_url, tmp_path, mail_url=mail_box.url, base_url="https://tickets.example")
    yield made
    made.close()


@pytest.fixture
def shop(app_server: AppServer, begun_shop: StartingPoint[Shop]) -> Shop:
    """Sixteen seats, a floor for 300, and invoices."""
    made = begun_shop.at(app_server)
    made.api.patch("/api/organisation/checkout", ACCOUNT)
    return made
