"""All modes of the gate's screen on one picture for each size of screen, for the documentation."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from playwright.sync_api import Browser, Page

from gate_app.screen.feed import Feed
from gate_app.screen.server import ScreenServer
from tests.browser.gate_scenes import SCENES, a_scan, a_status, already_used
from tests.browser.gate_verdicts import longest_verdicts

LARGEST_PX = 480
"""The longer side of each screen on a sheet."""
GAP = 12


@dataclass(frozen=True)
class Sheet:
    """A size of screen, and how it is shown on its sheet."""

    width: int
    height: int
    language: str
    look: str
    columns: int

    @property
    def name(self) -> str:
        """The file, without its ending."""
        return f"gate-modes-{self.width}x{self.height}"


SHEETS = (
    Sheet(480, 320, "af", "day", 3),
    Sheet(800, 480, "de", "night", 3),
    Sheet(390, 844, "fr", "day", 5),
    Sheet(1920, 1080, "en", "night", 3),
)


def take_sheet(browser: Browser, sheet: Sheet, folder: Path) -> None:
    """Takes all modes at one size and puts them side by side."""
    feed = Feed(time.monotonic_ns)
    server = ScreenServer(feed, port=0).open()
    page = browser.new_page(viewport={"width": sheet.width, "height": sheet.height}, reduced_motion="reduce")
    page.add_init_script(f"localStorage.setItem('gatehouse-look', '{sheet.look}')")
    page.goto(f"{server.address}?lang={sheet.language}")
    screens = [_taken(page, feed, show) for show in (*(scene.show for scene in SCENES), _wrong_gate, _repeat)]
    page.evaluate("listen = () => {}; stream.close(); showNoContact()")
    screens.append(_shot(page))
    page.close()
    server.close()
    cv2.imwrite(
        str(folder / f"{sheet.name}.png"), _side_by_side(screens, sheet.columns), [cv2.IMWRITE_PNG_COMPRESSION, 9]
    )


def _wrong_gate(feed: Feed) -> None:
    feed.status(a_status())
    feed.show(a_scan(verdict="deny", reason="wrong_gate", message=longest_verdicts()["wrong_gate"].message))


def _repeat(feed: Feed) -> None:
    feed.show(already_used())
    feed.show(already_used(again=True))


def _taken(page: Page, feed: Feed, show: object) -> np.ndarray:
    assert callable(show)
    show(feed)
    page.wait_for_function("wanted => drawnNumber >= wanted", arg=feed.view().number)
    feed.fault("sound", None)
    return _shot(page)


def _shot(page: Page) -> np.ndarray:
    seen = cv2.imdecode(np.frombuffer(page.screenshot(), np.uint8), cv2.IMREAD_COLOR)
    assert seen is not None
    scale = min(1.0, LARGEST_PX / max(seen.shape[:2]))
    return cv2.resize(seen, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)


def _side_by_side(screens: list[np.ndarray], columns: int) -> np.ndarray:
    height, width = screens[0].shape[:2]
    rows = math.ceil(len(screens) / columns)
    sheet = np.full((rows * (height + GAP) + GAP, columns * (width + GAP) + GAP, 3), 128, np.uint8)
    for number, screen in enumerate(screens):
        top, left = GAP + number // columns * (height + GAP), GAP + number % columns * (width + GAP)
        sheet[top : top + height, left : left + width] = screen
    return sheet
