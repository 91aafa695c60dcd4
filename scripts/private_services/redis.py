"""A private Redis on its own port that stores nothing on disk."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from scripts.private_services.installed import find_program
from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port, responds


class RedisServer:
    """A server that tests may stop, start, kill and fill."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gatehouse-redis-"))
        self.port = free_port()
        settings = {"bind": LOOPBACK, "port": str(self.port), "save": "", "appendonly": "no", "dir": str(self.folder)}
        command = [
            find_program("redis-server", "redis-server"),
            *(argument for name, value in settings.items() for argument in (f"--{name}", value)),
        ]
        self._child = Child("Redis", command, self.folder / "log")

    @property
    def url(self) -> str:
        """URL of its database."""
        return f"redis://{LOOPBACK}:{self.port}/0"

    @property
    def pid(self) -> int:
        """The process id of the program."""
        return self._child.pid

    def start(self) -> None:
        """Start the server and wait until it responds."""
        self._child.start()
        self._child.wait_until(lambda: responds(self.port, b"PING\r\n", b"+PONG"))

    def stop(self) -> None:
        """Stop cleanly; its contents are gone."""
        self._child.stop()

    def kill(self) -> None:
        """Kill the server, as a power cut would."""
        self._child.kill()

    def remove(self) -> None:
        """Kill the server and delete its files."""
        self._child.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
