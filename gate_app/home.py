"""The gate's folder: which file lies where, and the lock by which one process at a time holds it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from shared.errors import Conflict, StorageError


@dataclass(frozen=True, slots=True)
class Home:
    """Where a gate keeps everything that it must not forget."""

    folder: Path

    @property
    def settings(self) -> Path:
        """What the operator wrote."""
        return self.folder / "gate.toml"

    @property
    def identity(self) -> Path:
        """Who this device is, with its private key."""
        return self.folder / "identity.json"

    @property
    def database(self) -> Path:
        """The journal, the movements and the marks."""
        return self.folder / "gate.db"

    @property
    def posts(self) -> Path:
        """Where this device stands."""
        return self.folder / "posts.json"

    @property
    def snapshots(self) -> Path:
        """One file for each event's rows."""
        return self.folder / "snapshots"

    @property
    def lock(self) -> Path:
        """Says which process holds the home."""
        return self.folder / "gate.lock"

    def ready(self) -> Home:
        """The same home, with its folders made, readable by its owner alone."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.snapshots.mkdir(mode=0o700, exist_ok=True)
        except OSError as why:
            raise StorageError(
                f"The folder {self.folder} cannot be used: {why.strerror}. Name another one with --home."
            ) from why
        return self

    def require_readable(self) -> Home:
        """The same home, when this user may look into it. Raises StorageError with words."""
        try:
            with suppress(FileNotFoundError, NotADirectoryError), os.scandir(self.folder):
                pass
        except OSError as why:
            raise StorageError(
                f"The folder {self.folder} cannot be read: {why.strerror}. Ask as the user who runs the gate."
            ) from why
        return self

    def holder(self) -> str:
        """Words about the process that holds this home, empty when nobody does."""
        with suppress(OSError), self.lock.open("r+") as file:
            # An empty file was let go of properly: asking the lock could only disturb somebody who is just starting.
            if file.read(1) and not _locked(file):
                return _words(file)
        return ""

    @contextmanager
    def held(self, doing: str) -> Iterator[None]:
        """Holds the home while the block runs; the system lets go of it even when the process is killed."""
        with self._open_lock() as file:
            if not _locked(file):
                raise Conflict(_refused(self.folder, _words(file)), code="home_in_use")
            _write(file, json.dumps({"pid": os.getpid(), "doing": doing}))
            yield
            _write(file, "")

    def _open_lock(self) -> IO[str]:
        try:
            return self.lock.open("a+")
        except OSError as why:
            raise StorageError(f"{self.lock} cannot be opened: {why.strerror}.") from why


def _locked(file: IO[str]) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _write(file: IO[str], words: str) -> None:
    # The lock itself is the system's; who holds it is told as far as the disk has room for it.
    with suppress(OSError):
        os.ftruncate(file.fileno(), 0)
        os.pwrite(file.fileno(), words.encode(), 0)


def _words(file: IO[str]) -> str:
    with suppress(ValueError, KeyError, TypeError, OSError):
        file.seek(0)
        told = json.load(file)
        return f"process {told['pid']} (gatehouse-gate {told['doing']})"
    return "another process"


def _refused(folder: Path, holder: str) -> str:
    one = "One process at a time may scan or sync there: stop it first, or use its screen."
    return f"{holder.capitalize()} holds {folder}. {one}"
