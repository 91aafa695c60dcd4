"""Where a house lies on this machine: its folder, its two ports, and what its programs are told."""

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
    """Another house stands in the same folder, or this user may not build there."""


class PortTakenError(RuntimeError):
    """Somebody listens already where the house wants to."""


@dataclass(frozen=True, slots=True)
class Place:
    """One house; two of them live side by side as long as folders and ports differ."""

    folder: Path
    port: int
    gate_port: int

    @property
    def address(self) -> str:
        """The server's."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def gate_address(self) -> str:
        """The gate screen's."""
        return f"http://{LOOPBACK}:{self.gate_port}"

    @property
    def gate_home(self) -> Path:
        """What the demo gate must not forget."""
        return self.folder / "gate"

    @property
    def environment(self) -> dict[str, str]:
        """The settings of the server's programs; whatever else the machine has set stays out of the demo."""
        return {
            "GATEHOUSE_DATABASE_URL": f"sqlite:///{self.folder / 'gatehouse.db'}",
            "GATEHOUSE_MASTER_KEY_FILE": str(self.folder / "master.key"),
            "GATEHOUSE_BASE_URL": self.address,
            "PYTHONUNBUFFERED": "1",
        }

    def server_command(self, *words: str) -> list[str]:
        """A command of gatehouse-server."""
        return [sys.executable, "-m", "sync_server", *words]

    def gate_command(self, *words: str) -> list[str]:
        """A command of gatehouse-gate for the demo gate."""
        return [sys.executable, "-m", "gate_app", *words, "--home", str(self.gate_home)]

    @contextmanager
    def alone(self) -> Iterator[None]:
        """FolderTakenError where another house stands here: two servers must not share one SQLite file."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / "house.lock").open("w")
        except OSError as problem:
            raise FolderTakenError(
                f"{self.folder} cannot be written: {problem.strerror}. Run this as the user who owns that folder."
            ) from None
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FolderTakenError(
                    f"Another scripts/run has its house in {self.folder}. Stop that one first; other ports do not help."
                ) from None
            yield

    def require_free_ports(self) -> None:
        """PortTakenError, with what to do about it, when one of the two ports is in use."""
        for port, option in ((self.port, "--port"), (self.gate_port, "--gate-port")):
            if is_taken(port):
                raise PortTakenError(
                    f"Port {port} of this machine is in use, perhaps by another scripts/run. "
                    f"Stop that, or choose another port: scripts/run {option} {port + 1}"
                )
