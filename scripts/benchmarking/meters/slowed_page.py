"""A page of a browser with a slower processor, and how long the page's own thread has computed."""

from __future__ import annotations

from typing import Final

from playwright.sync_api import Page

PATIENCE_MS: Final = 120_000


class SlowedPage:
    """A page for which the processor is so many times slower from now on."""

    def __init__(self, page: Page, times: int, watch: str) -> None:
        """`watch` is run in every document before its own scripts."""
        page.set_default_timeout(PATIENCE_MS)
        page.add_init_script(watch)
        self.page, self._tools = page, page.context.new_cdp_session(page)
        self._tools.send("Performance.enable", {"timeDomain": "threadTicks"})
        self._tools.send("Emulation.setCPUThrottlingRate", {"rate": times})

    def computed(self) -> float:
        """Seconds that the page's thread has computed: the browser slows it down by letting it compute for nothing."""
        metrics = self._tools.send("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))
