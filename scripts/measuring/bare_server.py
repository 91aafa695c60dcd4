"""Serves a yardstick: a bare Flask endpoint in processes of its own, behind the same kind of server as the product."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import requests

from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port

ROOT = Path(__file__).parents[2]


class BareServer:
    """One module's `create_app`, at an address of its own; `settings` are what granian is told besides."""

    def __init__(
        self,
        module: str,
        folder: Path,
        environment: Mapping[str, str],
        *,
        settings: Sequence[str],
        ready: str = "/ready",
    ) -> None:
        """Starts nothing yet; it has begun once `ready` answers."""
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
        """Until it answers."""
        self._child.start()
        self._child.wait_until(self._answers)

    @property
    def pid(self) -> int:
        """The process id of the first of its processes."""
        return self._child.pid

    def stop(self) -> None:
        """For good."""
        self._child.stop()

    def _answers(self) -> bool:
        try:
            return requests.get(self._ready, timeout=2).ok
        except requests.RequestException:
            return False
