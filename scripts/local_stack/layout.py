"""Where a local stack lives: its folder, its two ports and the environment of its programs."""

from __future__ import annotations

import fcntl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scripts.processes.ports import LOOPBACK, is_taken

ROOT = Path(__file__).resolve().parents[2]


class FolderTakenError(RuntimeError):
    """Another stack uses the folder, or this user may not write there."""


class PortTakenError(RuntimeError):
    """A port of the stack is already in use."""


@dataclass(frozen=True, slots=True)
class StackLayout:
    """One stack; several can run at once if their folders and ports differ."""

    folder: Path
    port: int
    gate_port: int

    @property
    def address(self) -> str:
        """URL of the server."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def gate_address(self) -> str:
        """URL of the gate's screen."""
        return f"http://{LOOPBACK}:{self.gate_port}"

    @property
    def gate_home(self) -> Path:
        """The demo gate's home folder."""
        return self.folder / "gate"

    @property
    def environment(self) -> dict[str, str]:
        """The settings that make it this stack; others, such as a mail server, may come from the shell."""
        return {
            "GATEHOUSE_DATABASE_URL": f"sqlite:///{self.folder / 'gatehouse.db'}",
            "GATEHOUSE_MASTER_KEY_FILE": str(self.folder / "master.key"),
            "GATEHOUSE_BASE_URL": self.address,
            "PYTHONUNBUFFERED": "1",
        }

    def server_command(self, *arguments: str) -> list[str]:
        """A command of gatehouse-server."""
        return [sys.executable, "-m", "sync_server", *arguments]

    def gate_command(self, *arguments: str) -> list[str]:
        """A command of gatehouse-gate for the demo gate."""
        return [sys.executable, "-m", "gate_app", *arguments, "--home", str(self.gate_home)]

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder's lock, or raise FolderTakenError: two servers must not share one SQLite file."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / "stack.lock").open("w")
        except OSError as error:
            raise FolderTakenError(f"{self.folder} is not writable: {error.strerror}. Run this as its owner.") from None
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FolderTakenError(
                    f"Another scripts/run is using {self.folder}. Stop it first; other ports do not help."
                ) from None
            yield

    def require_free_ports(self) -> None:
        """PortTakenError, with what to do about it, when one of the two ports is in use, or will be."""
        if self.gate_port in {self.port, self.port + 1}:
            raise PortTakenError(
                f"The server takes the ports {self.port} and {self.port + 1}, the second for streams. "
                f"Choose another for the gate: scripts/run --gate-port {self.port + 2}"
            )
        for port, option in ((self.port, "--port"), (self.gate_port, "--gate-port")):
            if is_taken(port):
                raise PortTakenError(
                    f"Port {port} is already in use, perhaps by another scripts/run. "
                    f"Stop it, or choose another port: scripts/run {option} {port + 1}"
                )
