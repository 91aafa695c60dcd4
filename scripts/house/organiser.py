"""An organiser at the server's API: JSON out, JSON in, and refusals as exceptions with the server's words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import requests

TIMEOUT = 30


class RefusedError(RuntimeError):
    """The server refused; its code and words are the message."""


@dataclass(frozen=True, slots=True)
class Organiser:
    """Speaks for one organisation with its API token."""

    address: str
    token: str

    def get(self, path: str) -> Any:
        """Read."""
        return self._ask("GET", path, None)

    def post(self, path: str, body: dict[str, Any] | None = None, *, key: str | None = None) -> Any:
        """Create or change; `key` makes it safe to send again."""
        return self._ask("POST", path, body or {}, {"Idempotency-Key": key} if key else {})

    def put(self, path: str, body: dict[str, Any]) -> Any:
        """Say how something is from now on."""
        return self._ask("PUT", path, body)

    def _ask(self, method: str, path: str, body: dict[str, Any] | None, extra: dict[str, str] | None = None) -> Any:
        return self._send(method, path, body, extra or {}).json()

    def _send(self, method: str, path: str, body: dict[str, Any] | None, extra: dict[str, str]) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.token}", **extra}
        answer = requests.request(method, self.address + path, json=body, headers=headers, timeout=TIMEOUT)
        if answer.ok:
            return answer
        raise RefusedError(f"{method} {path}: {answer.status_code} {told(answer)}")


def told(answer: requests.Response) -> str:
    """What the server said about a refusal."""
    try:
        error = answer.json()["error"]
        details = f" {error['details']}" if error.get("details") else ""
        return f"{error['code']}: {error['message']}{details}"
    except (ValueError, KeyError, TypeError):
        return answer.text[:300]
