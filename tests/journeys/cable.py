"""The cable between a gate and the server: real requests and answers, which can be cut, lost or spoiled on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from flask import Flask

from gate_app.sync.client import Letter, Reply
from shared import protocol
from shared.errors import Unavailable

Deliver = Callable[[Letter], Reply]
Trouble = Callable[[Letter, Deliver], Reply]


@dataclass
class Cable:
    """Carries one gate's letters into the server that runs at the moment, if one does."""

    server: Callable[[], Flask | None]
    connected: bool = True
    trouble: Trouble | None = None
    asked: list[str] = field(default_factory=list)

    def carry(self, letter: Letter) -> Reply:
        """One request, one answer, or none."""
        if not self.connected:
            raise Unavailable("The cable is out.")
        self.asked.append(urlsplit(letter.url).path)
        return self.trouble(letter, self._deliver) if self.trouble else self._deliver(letter)

    def _deliver(self, letter: Letter) -> Reply:
        app = self.server()
        if app is None:
            raise Unavailable("Nobody answers.")
        parts = urlsplit(letter.url)
        told = app.test_client().open(
            parts.path,
            method=letter.method,
            query_string=parts.query,
            data=letter.body,
            headers=letter.headers,
            base_url=f"{parts.scheme}://{parts.netloc}",
        )
        return Reply(told.status_code, dict(told.headers), told.data)


def captive_portal(_letter: Letter, _deliver: Deliver) -> Reply:
    """The Wi-Fi of the house wants a login first, and says so with the best of statuses."""
    return Reply(200, {"Content-Type": "text/html"}, b"<html><h1>Welcome! Please accept our terms.</h1></html>")


def answer_lost(letter: Letter, deliver: Deliver) -> Reply:
    """The server hears and does everything; nobody hears its answer."""
    deliver(letter)
    raise Unavailable("The line went dead.")


def after(count: int, trouble: Trouble, *, path: str = "") -> Trouble:
    """So many requests to `path` go well, and then it starts."""
    left = [count]

    def sometimes(letter: Letter, deliver: Deliver) -> Reply:
        if not urlsplit(letter.url).path.endswith(path):
            return deliver(letter)
        left[0] -= 1
        return deliver(letter) if left[0] >= 0 else trouble(letter, deliver)

    return sometimes


def to_the_journal_only(trouble: Trouble) -> Trouble:
    """Everything goes well but the uploads."""
    return after(0, trouble, path=protocol.JOURNAL)


def error_page(_letter: Letter, _deliver: Deliver) -> Reply:
    """A proxy that has lost its server."""
    return Reply(500, {"Content-Type": "text/html"}, b"<html>Internal Server Error</html>")
