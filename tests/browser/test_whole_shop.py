"""Every page of the shop at the width of the narrowest phone, in every language: nothing overflows or is cut off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from scripts.processes.ports import free_port
from sync_server.plumbing.language.texts import LANGUAGES
from tests.app_server import AppServer
from tests.browser.measured import measured
from tests.browser.pictures import keep_page
from tests.browser.whole_shop import WholeShop, a_whole_shop
from tests.served_app import served
from tests.services.axe import violations
from tests.services.mail_server import MailBox

NARROW: Any = {"width": 320, "height": 640}
SCHEMES: dict[str, Any] = {"en": "light", "de": "light", "fr": "dark", "af": "dark"}
"""Each language by day or by night."""
LOOKED_THROUGH = ("de", "fr")
"""Where axe looks: once by day and once by night, in the languages that are longest."""

SHOWN = {"seats": "#picker[data-ready=true]", "pass-on-offered": "#name", "tickets-on-the-phone": ".ticket"}
"""What a page shows once its script is done."""
USED = {"checkout": ".buyer button.strong", "seats": "[data-show=list]"}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeShop]:
    folder, mail_box = tmp_path_factory.mktemp("shop"), MailBox(free_port())
    mail_box.start()
    server = AppServer(
        f"sqlite:///{folder / 'shop.db'}", folder, mail_url=mail_box.url, base_url="https://shop.example"
    )
    try:
        yield a_whole_shop(server, mail_box)
    finally:
        server.close()
        mail_box.stop()


@pytest.fixture(scope="module")
def address(shop: WholeShop) -> Iterator[str]:
    with served(shop.server) as address:
        yield address


def test_there_is_no_other_language() -> None:
    assert set(SCHEMES) == set(LANGUAGES)


@pytest.mark.parametrize("language", SCHEMES)
def test_every_page_at_the_narrowest_width(shop: WholeShop, address: str, browser: Browser, language: str) -> None:
    context = browser.new_context(viewport=NARROW, color_scheme=SCHEMES[language], reduced_motion="reduce")
    try:
        assert walk(shop, context, address, language) == []
    finally:
        context.close()


def walk(shop: WholeShop, context: BrowserContext, address: str, language: str) -> list[object]:
    """Open every page in this language; what is wrong with them."""
    wrong: list[object] = []
    page = context.new_page()
    for name, guest, path in shop.pages():
        shop.lend(guest, context, address)
        before, _, secret = path.partition("#")
        page.goto(f"{address}{before}{'&' if '?' in before else '?'}lang={language}{'#' if secret else ''}{secret}")
        if language == "en":
            keep_page(page, "shop", name)
            page.set_viewport_size(NARROW)
        wrong.extend((name, language, fault) for fault in faults(page, name, language))
    page.goto("about:blank")
    return wrong


def faults(page: Page, name: str, language: str) -> list[object]:
    """What is wrong with the page that is open, and with what it says once it is used wrongly."""
    if name in SHOWN:
        expect(page.locator(SHOWN[name]).first).to_be_visible()
    if name != "tickets-on-the-phone":  # which speaks the language of its order
        expect(page.locator("html")).to_have_attribute("lang", language)
    wrong = [
        *narrow(page, swiped=name == "tickets-on-the-phone"),
        *(violations(page) if language in LOOKED_THROUGH else ()),
    ]
    if name in USED:
        page.locator(USED[name]).first.click()
        expect(page.locator(".error, .best-seats, .list-zone").first).to_be_visible()
        wrong += narrow(page, swiped=False)
    return wrong


def narrow(page: Page, *, swiped: bool) -> list[object]:
    """What does not fit; of what is swiped the next stands outside the screen, and of a page only the skip link."""
    found, skips = measured(page), page.locator(".skip")
    skip = skips.inner_text() if skips.count() else "."
    cut = [] if swiped else [text for text in found["cut"] if not text.endswith(skip)]
    wide = [f"as wide as {page.evaluate('document.documentElement.scrollWidth')}"] if found["wide"] else []
    return [*wide, *cut, *found["small"]]
