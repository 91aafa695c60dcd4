"""Fixtures for pages: a real Chromium that may only reach this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserType, ConsoleMessage, Page, Route, expect, sync_playwright

from scripts.private_services.installed import NotInstalledError
from tests.services.optional_services import start_or_fail

__all__ = ["browser", "browser_page", "launched"]

NAMES = ("chromium", "chromium-browser", "google-chrome")
#: The flags keep Chromium from contacting its maker's hosts at every start.
QUIET = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
]
LOCAL_HOSTS = {"127.0.0.1", "localhost", "[::1]", "::1"}
TIMEOUT_MS = 100_000  # on a busy machine a large page takes more than half a minute to move


def _program() -> str:
    for name in NAMES:
        if found := shutil.which(name):
            return found
    raise NotInstalledError(
        "Chromium is not installed. Run scripts/test, which installs it, or: apt-get install chromium"
    )


def launched(chromium: BrowserType, *more: str) -> Browser:
    """Chromium with these further flags, such as for a camera of its own."""
    # As root, Chromium's own sandbox refuses to start.
    flags = [*QUIET, *more, "--no-sandbox"] if os.geteuid() == 0 else [*QUIET, *more]
    return chromium.launch(executable_path=_program(), args=flags)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for the whole run; tests get pages from `browser_page`."""
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as playwright:
        started = start_or_fail("browser", lambda: launched(playwright.chromium))
        yield started
        started.close()


def _block_outside(route: Route, blocked: list[str]) -> None:
    address = urlsplit(route.request.url)
    if address.scheme in {"data", "blob", "about"} or address.hostname in LOCAL_HOSTS:
        route.fallback()
        return
    blocked.append(route.request.url)
    route.abort()


def _collect_errors(page: Page) -> list[str]:
    """Collect script errors, policy violations and requests to the outside world."""
    errors: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            errors.append(message.text)

    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", listen)
    page.route("**/*", lambda route: _block_outside(route, errors))
    return errors


@pytest.fixture
def browser_page(browser: Browser) -> Iterator[Page]:
    """A page with an empty profile; the test fails afterwards if a script failed or a request left this machine."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    errors = _collect_errors(page)
    yield page
    context.close()
    if errors:
        pytest.fail("Errors on the page: " + "; ".join(errors), pytrace=False)
