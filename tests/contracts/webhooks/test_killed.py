"""kill -9 of the worker while a receiver has not answered yet: another worker goes on, and nothing is lost."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

from scripts.processes.child import Child
from tests.app_server import AppServer, a_concert
from tests.contracts.webhooks.conftest import a_webhook, change
from tests.services.webhook_receiver import Receiver

ROOT = Path(__file__).parents[3]


def test_what_was_under_way_is_repeated_and_nothing_else(postgres_url: str, tmp_path: Path, receiver: Receiver) -> None:
    settings = {"webhook_http": True, "webhook_networks": "127.0.0.0/8", "webhook_seconds": 1}
    server = AppServer(postgres_url, tmp_path, **settings)
    environment = {f"GATEHOUSE_{name.upper()}": str(value) for name, value in settings.items()} | {
        "GATEHOUSE_DATABASE_URL": postgres_url,
        "GATEHOUSE_MASTER_KEY_FILE": str(tmp_path / "master.key"),
        "GATEHOUSE_METRICS_ADDRESS": "off",
        "GATEHOUSE_LOG_LEVEL": "error",
    }
    with ExitStack() as ends:
        ends.callback(server.close)

        def a_worker(name: str) -> Child:
            command = [sys.executable, "-m", "sync_server", "worker"]
            child = Child(name, command, tmp_path / f"{name}.log", environment, ROOT)
            child.start()
            ends.callback(child.stop)
            return child

        api = server.api(server.organisation("marquee"))
        concert = a_concert(api)
        server.run_worker()
        a_webhook(api, receiver, "event_updated")
        change(concert, "one")
        first = a_worker("first")
        first.wait_until(lambda: len(receiver.arrived) == 1)
        receiver.silent = True
        change(concert, "two", "three")
        first.wait_until(lambda: len(receiver.arrived) == 2)
        first.kill()
        receiver.silent = False
        receiver.release.set()
        second = a_worker("second")
        second.wait_until(lambda: len(receiver.arrived) == 4)
        told = [each.json["payload"]["after"]["description"] for each in receiver.arrived]
        assert told == ["one", "two", "two", "three"]
        assert receiver.arrived[1].id == receiver.arrived[2].id
