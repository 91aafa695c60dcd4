"""Every page of the desk, in a real browser: it fits a phone, and axe finds nothing, by day and by night."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.app_server import AppServer
from tests.browser.page_width import assert_fits_width
from tests.browser.pictures import keep_page
from tests.desk import EMAIL, SIGNED_OUT, a_desk
from tests.served_app import served
from tests.services import axe
from tests.staff import PASSWORD

PARTS = {
    "events": r"/admin/events(?!/<event_id>/(wall|door|seats|scans|screens|sell|conflicts))",
    "door": r"/admin/(devices|alerts|decisions|events/<event_id>/(wall|door|seats|scans|screens|sell|conflicts))",
    "settings": r"/admin/(settings|account)",
    "the rest": r"/admin/($|orders|search|venues)",
    "signed out": "|".join(SIGNED_OUT),
}
"""The pages by their addresses, so that a failure names a part of the desk."""
LOOKS = ((320, "light"), (1440, "dark"))
"""A small phone by day, and a large screen by night: together they use every rule of the stylesheet."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The address of every page, by its name in the server."""
    folder: Path = tmp_path_factory.mktemp("desk")
    server = AppServer(f"sqlite:///{folder / 'desk.db'}", folder)
    try:
        desk = a_desk(server)
        with served(server) as address:
            found = {rule: address + path for rule, path in desk.pages(server)}
            yield found | {path: address + path for path in SIGNED_OUT}
    finally:
        server.close()


@pytest.mark.parametrize("part", PARTS)
def test_every_page_fits_and_is_accessible(part: str, pages: dict[str, str], browser_page: Page) -> None:
    if part != "signed out":
        sign_in(browser_page, pages["/admin/login"])
    wrong = {}
    for rule, address in pages.items():
        if part_of(rule) == part:
            browser_page.goto(address)
            wrong[rule] = faults(browser_page)
            keep_page(browser_page, "desk", rule)
    assert len(wrong) >= len(SIGNED_OUT)
    assert {rule: found for rule, found in wrong.items() if found} == {}


def part_of(rule: str) -> str:
    """The part of the desk that a page belongs to."""
    (part,) = (name for name, pattern in PARTS.items() if re.match(pattern, rule))
    return part


def faults(page: Page) -> list[str]:
    """What is wrong with an open page."""
    found = []
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert_fits_width(page, width)
        found += axe.violations(page)
    return found


def sign_in(page: Page, address: str) -> None:
    """Sign the owner in."""
    page.goto(address)
    page.get_by_label("E-mail address").fill(EMAIL)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("heading", level=1).wait_for()
