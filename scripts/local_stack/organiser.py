"""A client of the organiser API: JSON out, JSON in, refusals as exceptions with the server's message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import requests

TIMEOUT = 30


class RefusedError(RuntimeError):
    """The server refused a request; the message has its error code and text."""


@dataclass(frozen=True, slots=True)
class Organiser:
    """Acts for one organisation with its API token."""

    address: str
    token: str

    def get(self, path: str) -> Any:
        """Read."""
        return self._json("GET", path, None)

    def text(self, path: str) -> str:
        """Read a file of text."""
        return self._send("GET", path, None, {}).text

    def post(self, path: str, body: dict[str, Any] | None = None, *, key: str | None = None) -> Any:
        """Create or change; `key` makes it safe to send again."""
        return self._json("POST", path, body or {}, {"Idempotency-Key": key} if key else {})

    def patch(self, path: str, body: dict[str, Any]) -> Any:
        """Change."""
        return self._json("PATCH", path, body)

    def put(self, path: str, body: dict[str, Any]) -> Any:
        """Replace."""
        return self._json("PUT", path, body)

    def _json(self, method: str, path: str, body: dict[str, Any] | None, extra: dict[str, str] | None = None) -> Any:
        return self._send(method, path, body, extra or {}).json()

    def _send(self, method: str, path: str, body: dict[str, Any] | None, extra: dict[str, str]) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.token}", **extra}
        response = requests.request(method, self.address + path, json=body, headers=headers, timeout=TIMEOUT)
        if response.ok:
            return response
        raise RefusedError(f"{method} {path}: {response.status_code} {error_message(response)}")


def error_message(response: requests.Response) -> str:
    """The error code, message and details of a refusal, or the start of a body that is not JSON."""
    try:
        error = response.json()["error"]
        details = f" {error['details']}" if error.get("details") else ""
        return f"{error['code']}: {error['message']}{details}"
    except (ValueError, KeyError, TypeError):
        return response.text[:300]
