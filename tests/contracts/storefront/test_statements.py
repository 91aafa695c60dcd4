"""How many statements a page of the shop may send: what a crowd opens sends none while the cache holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import event

from tests.app_server import AppServer
from tests.contracts.storefront.conftest import Evening

ADA = {"name": "Ada Lovelace", "email": "ada@lovelace.example"}


@contextmanager
def counted(evening: Evening) -> Iterator[list[str]]:
    """The statements that are sent during the block."""
    sent: list[str] = []

    def note(*arguments: object) -> None:
        sent.append(str(arguments[2]))

    engine = evening.app_server.database.engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(engine, "before_cursor_execute", note)


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """A server whose cache forgets nothing by the clock."""
    made = AppServer(sqlite_url, tmp_path, monotonic=lambda: 0)
    yield made
    made.close()


def test_pages_of_a_crowd_send_nothing_while_the_cache_holds(evening: Evening) -> None:
    browser = evening.browser()
    for path, first in (("/o/marquee", 8), (evening.path, 14)):
        with counted(evening) as sent:
            browser.get(path)
        assert len(sent) <= first, sent
        with counted(evening) as sent:
            browser.get(path)
            browser.get(f"{path}?lang=de")
        assert sent == [], path


def test_pages_of_a_buyer_send_few(on_sale: Callable[..., Evening]) -> None:
    evening = on_sale({"name": "Free entry", "price_cents": 0})
    browser = evening.browser()
    browser.get(evening.path)
    browser.send("/tickets", t1=4)
    with counted(evening) as sent:
        browser.get(f"{evening.path}/checkout")
    assert len(sent) <= 24, sent
    browser.send("/checkout", **ADA)
    with counted(evening) as sent:
        browser.get(browser.path)
    assert len(sent) <= 34, sent
    with counted(evening) as sent:
        browser.get("/o/marquee/account")
    assert len(sent) <= 12, sent
