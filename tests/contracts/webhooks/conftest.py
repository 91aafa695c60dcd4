"""An organisation whose facts are posted to a receiver on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sync_server.outbox.fact_worker import FactWorker
from sync_server.webhooks.sender import WebhookSender
from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.services.webhook_receiver import Receiver

INSIDE = {"webhook_http": True, "webhook_networks": "127.0.0.1", "webhook_seconds": 1}
MakeServer = Callable[..., AppServer]


@pytest.fixture
def make_server(database_url: str, tmp_path: Path) -> Iterator[MakeServer]:
    """Makes servers on one database that may post to this machine."""
    made: list[AppServer] = []

    def make(**settings: Any) -> AppServer:
        made.append(AppServer(database_url, tmp_path, fresh=not made, **(INSIDE | settings)))
        return made[-1]

    yield make
    for server in made:
        server.close()


@pytest.fixture
def app_server(make_server: MakeServer) -> AppServer:
    return make_server()


@pytest.fixture
def concert(api: ApiClient) -> Concert:
    return a_concert(api)


def run(app_server: AppServer) -> None:
    """What the worker does about facts and webhooks, until nothing is due."""
    for _ in range(2):
        FactWorker(app_server.parts).run_once()
        WebhookSender(app_server.parts).run_once()


def a_webhook(api: ApiClient, receiver: Receiver, *facts: str, **changed: Any) -> dict[str, Any]:
    """A registered webhook, with its secret."""
    body = {"url": receiver.url, "facts": list(facts or ("event.*",))} | changed
    made: dict[str, Any] = api.post("/api/webhooks", body)
    return made


@dataclass
class Hook:
    """A registered webhook."""

    api: ApiClient
    made: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.made["id"])

    @property
    def path(self) -> str:
        return f"/api/webhooks/{self.id}"

    def now(self) -> dict[str, Any]:
        """How it does."""
        found: dict[str, Any] = self.api.get(self.path)
        return found

    def messages(self, query: str = "") -> list[dict[str, Any]]:
        """Its log, oldest first."""
        items: list[dict[str, Any]] = self.api.get(f"{self.path}/messages{query}")["items"]
        return items[::-1]

    def log(self, message_id: str) -> Any:
        """One message with its body and attempts."""
        return self.api.get(f"{self.path}/messages/{message_id}")


def change(concert: Concert, *texts: str) -> None:
    """One fact of the event for each text."""
    for text in texts:
        concert.api.patch(concert.path, {"description": text})
