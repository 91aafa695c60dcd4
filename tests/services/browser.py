"""Fixtures for pages: a real Chromium that may speak to this machine alone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, Route, expect, sync_playwright

from scripts.throwaway.installed import NotInstalledError
from tests.services.parts import opened

__all__ = ["browser", "browser_page"]

NAMES = ("chromium", "chromium-browser", "google-chrome")
#: The flags keep Chromium from looking up hosts of its maker at every start.
QUIET = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
]
HERE = {"127.0.0.1", "localhost", "[::1]", "::1"}
PATIENCE_MS = 30_000


def _program() -> str:
    for name in NAMES:
        if found := shutil.which(name):
            return found
    raise NotInstalledError(
        "Chromium is not installed. Run scripts/test, which installs it, or: apt-get install chromium"
    )


def _launched(playwright: Playwright) -> Browser:
    # As root, Chromium's own sandbox refuses to start.
    flags = [*QUIET, "--no-sandbox"] if os.geteuid() == 0 else QUIET
    return playwright.chromium.launch(executable_path=_program(), args=flags)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for the whole run; pages come from `browser_page`."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        started = opened("browser", lambda: _launched(playwright))
        yield started
        started.close()


def _stay_here(route: Route, strayed: list[str]) -> None:
    address = urlsplit(route.request.url)
    if address.scheme in {"data", "blob", "about"} or address.hostname in HERE:
        route.fallback()
        return
    strayed.append(route.request.url)
    route.abort()


def _watch(page: Page) -> list[str]:
    """What goes wrong on a page unseen: errors of scripts, broken policy, requests to the world."""
    trouble: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            trouble.append(message.text)

    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("console", listen)
    page.route("**/*", lambda route: _stay_here(route, trouble))
    return trouble


@pytest.fixture
def browser_page(browser: Browser) -> Iterator[Page]:
    """A page with an empty profile; the test fails afterwards if a script on it broke or asked the outside world."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    trouble = _watch(page)
    yield page
    context.close()
    if trouble:
        pytest.fail("The page was in trouble: " + "; ".join(trouble), pytrace=False)
