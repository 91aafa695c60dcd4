"""A guest in the shop: a cookie, a token against forged requests, and seats held for some minutes."""

from __future__ import annotations

from typing import Any

import requests

from scripts.house.organiser import TIMEOUT, RefusedError, told


class Guest:
    """Somebody with a browser of their own."""

    def __init__(self, address: str, shop: str) -> None:
        """Comes in."""
        self._address = address
        self._browser = requests.Session()
        came = self._browser.post(f"{address}/api/o/{shop}/session", timeout=TIMEOUT)
        if not came.ok:
            raise RefusedError(f"coming in: {came.status_code} {told(came)}")
        self._browser.headers["X-CSRF-Token"] = came.json()["csrf_token"]

    def hold_best(self, event: str) -> Any:
        """Hold the best seat that is left."""
        answer = self._browser.post(f"{self._address}/api/events/{event}/holds", json={"best": 1}, timeout=TIMEOUT)
        if answer.status_code != 201:
            raise RefusedError(f"holding: {answer.status_code} {told(answer)}")
        return answer.json()["data"]["holds"][0]

    def hold(self, event: str, seat: str) -> tuple[int, Any]:
        """Ask for a seat: the status, and the hold or the code word of the refusal."""
        answer = self._browser.post(
            f"{self._address}/api/events/{event}/seats/{seat}/reserve", json={}, timeout=TIMEOUT
        )
        words = answer.json()
        return answer.status_code, words["data"] if answer.ok else words["error"]["code"]
