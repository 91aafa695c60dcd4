"""What a shop shows is kept for a second: with Redis and without it, whatever has changed and whoever changed it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.app_server import AppServer
from tests.contracts.storefront.browsing import Browser
from tests.contracts.storefront.conftest import STANDING, Evening, an_evening

SECOND_NS = 1_000_000_000


@dataclass
class Watched:
    """An evening that one process sells and another one shows, each with a cache of its own."""

    evening: Evening
    shop: AppServer
    moment: list[int]

    def later(self, nanoseconds: int) -> None:
        """Let the caches grow older."""
        self.moment[0] += nanoseconds

    def look(self, status: int = 200) -> str:
        """The page of the event, as a new visitor reads it."""
        return Browser.at(self.shop).get(self.evening.path, status)


@pytest.fixture(params=["alone", "with Redis"])
def watched(request: pytest.FixtureRequest, sqlite_url: str, tmp_path: Path) -> Iterator[Watched]:
    settings = {"redis_url": request.getfixturevalue("redis_url")} if request.param == "with Redis" else {}
    moment = [0]
    office = AppServer(sqlite_url, tmp_path)
    shop = AppServer(sqlite_url, tmp_path, fresh=False, monotonic=lambda: moment[0], **settings)
    evening = an_evening(office, office.api(office.organisation("marquee")), STANDING)
    yield Watched(evening, shop, moment)
    shop.close()
    office.close()


def test_a_cancelled_event_leaves_the_shop_within_a_second(watched: Watched) -> None:
    assert "Standing" in watched.look()
    watched.evening.api.post(f"/api/events/{watched.evening.event['id']}/cancel", {}, 200)
    watched.later(SECOND_NS)
    assert "does not take place" in watched.look(410)


def test_a_new_price_is_shown_within_a_second(watched: Watched) -> None:
    assert "36.50" in watched.look()
    watched.evening.api.patch(f"/api/events/{watched.evening.event['id']}/ticket-types/1", {"price_cents": 4000})
    watched.later(SECOND_NS)
    assert "41.50" in watched.look()


def test_a_crowd_is_answered_from_the_cache_until_then_and_browsers_keep_no_page_longer(watched: Watched) -> None:
    watched.look()
    watched.evening.api.patch(f"/api/events/{watched.evening.event['id']}/ticket-types/1", {"price_cents": 4000})
    watched.later(SECOND_NS - 1)
    assert "36.50" in watched.look()
    page = watched.shop.app.test_client().get(watched.evening.path)
    assert page.headers["Cache-Control"] == "public, max-age=1, s-maxage=1"
