"""A shop with an evening of general admission, and a browser at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, EVENING, HOUR, a_ticket_type, a_venue, an_event
from tests.contracts.checkout.shop_floor import ACCOUNT
from tests.contracts.storefront.browsing import Browser
from tests.services.mail_server import MailBox

STANDING = {"name": "Standing", "price_cents": 3500, "fee_cents": 150, "tax_rate": 700}
REDUCED = {"name": "Reduced", "price_cents": 2000, "tax_rate": 700}
TIMES = {"start_at": EVENING + 30 * DAY, "end_at": EVENING + 30 * DAY + 4 * HOUR, "doors_at": EVENING + 30 * DAY - HOUR}


@dataclass
class Evening:
    """An event on sale in the shop of `marquee`."""

    app_server: AppServer
    api: ApiClient
    event: dict[str, Any]

    @property
    def path(self) -> str:
        """Its page in the shop."""
        return f"/o/marquee/events/{self.event['slug']}"

    def browser(self, address: str = "198.51.100.7") -> Browser:
        """A new browser."""
        return Browser.at(self.app_server, address)

    def order(self) -> dict[str, Any]:
        """The only order, as the organiser sees it."""
        (found,) = self.api.get("/api/orders")["items"]
        return dict(self.api.get(f"/api/orders/{found['id']}"))


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path, mail_box: MailBox) -> Iterator[AppServer]:
    """A server that can send mail. Pages call what is tried on both databases elsewhere; one walk is on both here."""
    made = AppServer(sqlite_url, tmp_path, mail_url=mail_box.url, base_url="https://shop.example")
    yield made
    made.close()


def an_evening(app_server: AppServer, api: ApiClient, *types: dict[str, Any], **changed: Any) -> Evening:
    """An event on sale with these ticket types."""
    venue = api.post("/api/venues", a_venue(settings={"house_rules": "No <bottles>.", "accessibility": "Gate B."}))
    event = api.post("/api/events", an_event(venue["id"], **TIMES | changed))
    for each in types:
        api.post(f"/api/events/{event['id']}/ticket-types", a_ticket_type(**each))
    return Evening(app_server, api, api.post(f"/api/events/{event['id']}/publish", {}, 200))


@pytest.fixture
def on_sale(app_server: AppServer, api: ApiClient) -> Callable[..., Evening]:
    """Makes an evening with these ticket types."""
    return partial(an_evening, app_server, api)


@pytest.fixture
def evening(on_sale: Callable[..., Evening], api: ApiClient) -> Evening:
    """Two ticket types, to be paid by invoice."""
    api.patch("/api/organisation/checkout", ACCOUNT)
    return on_sale(STANDING, REDUCED)
