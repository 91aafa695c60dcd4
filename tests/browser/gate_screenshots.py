"""Takes screenshots of the gate's screen for the documentation; `scripts/pictures` runs this."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from gate_app.screen.feed import Feed
from gate_app.screen.live_pictures import LivePictures
from gate_app.screen.server import ScreenServer
from tests.browser.gate_camera import CameraAtTheDoor
from tests.browser.gate_scenes import SCENES, Scene, a_status, earlier_guests
from tests.browser.gate_sheets import SHEETS, take_sheet

SIZES = {"phone": (390, 844), "kiosk": (1280, 800)}
UNDOCUMENTED = {"welcome"}  # looks like `again` without its notice
CHROMIUM = "/usr/bin/chromium"
CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def take_screenshot(browser: Browser, scene: Scene, size: tuple[int, int], file: Path) -> None:
    """Take a screenshot of one scene."""
    feed = Feed(time.monotonic_ns)
    server = ScreenServer(feed, port=0).open()
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce")
    page.goto(server.address)
    scene.show(feed)
    expect(page.locator("#gate")).to_have_text("Gate A")
    page.wait_for_timeout(250)
    page.screenshot(path=str(file))
    page.close()
    server.close()


def take_camera_screenshot(browser: Browser, size: tuple[int, int], file: Path) -> None:
    """Take a screenshot of a waiting gate with its camera's live picture."""
    now = 0
    feed = Feed(lambda: now)
    feed.status(a_status())
    earlier_guests(feed)
    now += 10_000_000_000  # the last verdict is no longer shown
    feed.status(a_status())
    server = ScreenServer(feed, port=0, pictures=LivePictures({"camera": CameraAtTheDoor()})).open()
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce")
    page.goto(server.address)
    expect(page.locator("#picture")).to_be_visible()
    page.wait_for_timeout(250)
    page.screenshot(path=str(file))
    page.close()
    server.close()


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_OPTIONS)
        for scene in SCENES:
            if scene.name in UNDOCUMENTED:
                continue
            for name, size in SIZES.items():
                take_screenshot(browser, scene, size, folder / f"gate-{scene.name}-{name}.png")
        for name, size in SIZES.items():
            take_camera_screenshot(browser, size, folder / f"gate-camera-{name}.png")
        for sheet in SHEETS:
            take_sheet(browser, sheet, folder)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
