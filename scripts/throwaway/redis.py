"""A private Redis on a port of its own, keeping nothing on disk."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, answers, free_port
from scripts.throwaway.installed import find_program


class RedisServer:
    """One that tests may stop, start, kill and fill."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gatehouse-redis-"))
        self.port = free_port()
        settings = {"bind": LOOPBACK, "port": str(self.port), "save": "", "appendonly": "no", "dir": str(self.folder)}
        command = [
            find_program("redis-server", "redis-server"),
            *(word for name, value in settings.items() for word in (f"--{name}", value)),
        ]
        self._child = Child("Redis", command, self.folder / "log")

    @property
    def url(self) -> str:
        """Its address."""
        return f"redis://{LOOPBACK}:{self.port}/0"

    @property
    def pid(self) -> int:
        """The process id of the program."""
        return self._child.pid

    def start(self) -> None:
        """Start serving and wait until it answers."""
        self._child.start()
        self._child.wait_until(lambda: answers(self.port, b"PING\r\n", b"+PONG"))

    def stop(self) -> None:
        """Stop in order; what it held is gone."""
        self._child.stop()

    def kill(self) -> None:
        """The power cut."""
        self._child.kill()

    def remove(self) -> None:
        """Stop, and leave nothing behind."""
        self._child.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
