"""A guest of the public shop: a session cookie, a CSRF token, and seats held for a few minutes."""

from __future__ import annotations

from typing import Any

import requests

from scripts.local_stack.organiser import TIMEOUT, RefusedError, error_message


class Guest:
    """One guest with a session of its own."""

    def __init__(self, address: str, shop: str) -> None:
        """Start a session. RefusedError if the server refuses one."""
        self._address, self._shop = address, f"{address}/api/o/{shop}"
        self._session = requests.Session()
        response = self._session.post(f"{address}/api/o/{shop}/session", timeout=TIMEOUT)
        if not response.ok:
            raise RefusedError(f"starting a session: {response.status_code} {error_message(response)}")
        self._session.headers["X-CSRF-Token"] = response.json()["csrf_token"]

    def enter_checkout(self, event: str) -> int:
        """Enter the checkout; the seconds that are left there."""
        return int(self._post(f"{self._shop}/events/{event}/checkout", {})["remaining_seconds"])

    def order(self, event: str, hold: str, **body: Any) -> Any:
        """Order what is held."""
        return self._post(f"{self._shop}/events/{event}/orders", {"holds": [{"hold_id": hold}], **body})

    def pay(self, order: str, method: str) -> Any:
        """Choose how to pay."""
        return self._post(f"{self._shop}/orders/{order}/pay", {"method": method})

    def code(self, order: str, ticket: str) -> str:
        """The code of a ticket, as gates read it."""
        path = f"{self._shop}/orders/{order}/tickets/{ticket}/code"
        return str(self._session.get(path, timeout=TIMEOUT).json()["code"])

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        response = self._session.post(path, json=body, timeout=TIMEOUT)
        if not response.ok:
            raise RefusedError(f"POST {path}: {response.status_code} {error_message(response)}")
        return response.json()

    def hold_best(self, event: str) -> Any:
        """Hold the best available seat."""
        response = self._session.post(f"{self._address}/api/events/{event}/holds", json={"best": 1}, timeout=TIMEOUT)
        if response.status_code != 201:
            raise RefusedError(f"holding: {response.status_code} {error_message(response)}")
        return response.json()["data"]["holds"][0]

    def hold(self, event: str, seat: str) -> tuple[int, Any]:
        """Reserve a seat; return the status with the hold or the error code."""
        response = self._session.post(
            f"{self._address}/api/events/{event}/seats/{seat}/reserve", json={}, timeout=TIMEOUT
        )
        payload = response.json()
        return response.status_code, payload["data"] if response.ok else payload["error"]["code"]
