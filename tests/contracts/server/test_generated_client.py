"""A client that is generated from the description works: signing in, events, lists, and errors as types."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app_server import AppServer
from tests.served_app import served
from tests.services.client_generator import ClientGenerator
from tests.staff import PASSWORD

WALK = Path(__file__).with_name("generated_client_walk.py")
OLGA = "olga@marquee.example"


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """What is described is the same on every database."""
    made = AppServer(sqlite_url, tmp_path)
    yield made
    made.close()


def test_a_partner_walks_from_signing_in_to_a_published_event(
    app_server: AppServer, client_generator: ClientGenerator, tmp_path: Path
) -> None:
    app_server.user(OLGA, app_server.organisation("marquee"), "owner")
    description = tmp_path / "openapi.json"
    description.write_bytes(app_server.app.test_client().get("/openapi.json").data)
    client_generator.generate(description, tmp_path / "gatehouse_client")
    with served(app_server) as address:
        command = [str(client_generator.python), str(WALK), address, OLGA, PASSWORD]
        environment = {"PYTHONPATH": str(tmp_path), "PATH": os.environ["PATH"]}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "listed": ["Night Music"],
        "missing": [404, "event_not_found"],
        "again": [409, "duplicate_event"],
    }
