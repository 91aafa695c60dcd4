"""Serves a yardstick: a bare Flask endpoint in its own processes, behind the same WSGI server as the product."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import requests

from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port

ROOT = Path(__file__).parents[3]


class BareServer:
    """The `create_app` of a module on its own port; `settings` are further options of granian."""

    def __init__(
        self,
        module: str,
        folder: Path,
        environment: Mapping[str, str],
        *,
        settings: Sequence[str],
        ready: str = "/ready",
    ) -> None:
        """Prepare the command; the server is up once the path `ready` responds."""
        self.address = f"http://{LOOPBACK}:{free_port()}"
        self._ready = f"{self.address}{ready}"
        name = module.rpartition(".")[2].replace("_", "-")
        command = [
            sys.executable,
            "-m",
            "granian",
            "--interface",
            "wsgi",
            "--factory",
            "--port",
            self.address.rsplit(":")[-1],
            *settings,
            "--log-level",
            "warning",
            f"{module}:create_app",
        ]
        self._child = Child(f"The {name.replace('-', ' ')}", command, folder / f"{name}.log", environment, folder=ROOT)

    def start(self) -> None:
        """Start the server and wait until it responds."""
        self._child.start()
        self._child.wait_until(self._responds)

    @property
    def pid(self) -> int:
        """The process id of the parent process."""
        return self._child.pid

    def stop(self) -> None:
        """Stop the server."""
        self._child.stop()

    def _responds(self) -> bool:
        try:
            return requests.get(self._ready, timeout=2).ok
        except requests.RequestException:
            return False
