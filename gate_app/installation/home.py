"""The gate's folder: the paths of its files, and the lock that lets one process at a time use it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from shared.errors import Conflict, NotFound, StorageError

_CANNOT_WRITE = frozenset({errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES})


@dataclass(frozen=True, slots=True)
class Home:
    """The paths in a gate's folder, and its lock."""

    folder: Path

    @property
    def settings(self) -> Path:
        """The operator's settings."""
        return self.folder / "gate.toml"

    @property
    def identity(self) -> Path:
        """The device's identity and private key."""
        return self.folder / "identity.json"

    @property
    def database(self) -> Path:
        """The journal, the movements and the stored values."""
        return self.folder / "gate.db"

    @property
    def badges(self) -> Path:
        """What became of the badges that were printed here."""
        return self.folder / "badges.db"

    @property
    def assignments(self) -> Path:
        """The device's assignments."""
        return self.folder / "posts.json"

    @property
    def snapshots(self) -> Path:
        """The folder with one file of rows per event."""
        return self.folder / "snapshots"

    @property
    def lock(self) -> Path:
        """The lock file; it names the process that uses the home."""
        return self.folder / "gate.lock"

    @property
    def control(self) -> Path:
        """Where commands reach the running gate, and the token that it asks of them."""
        return self.folder / "control.json"

    @property
    def certificate(self) -> Path:
        """The certificate of the encrypted pages, and its private key."""
        return self.folder / "screen.pem"

    def require_gate(self) -> Home:
        """Returns this home if a gate is, or is being, set up in it: a mistyped folder must not become one.

        Raises NotFound or StorageError.
        """
        self.require_readable()
        if not any(path.exists() for path in (self.identity, self.database, self.settings)):
            raise NotFound(f"There is no gate in {self.folder}. Choose another folder with --home, or enrol this one.")
        return self

    def ready(self) -> Home:
        """Creates the folders, readable by their owner only, and returns this home. Raises StorageError.

        What is missing on a disk that cannot be written stays missing: the gate must open to say so.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.snapshots.mkdir(mode=0o700, exist_ok=True)
            self._close_to_others()
        except OSError as why:
            if why.errno in _CANNOT_WRITE and self.folder.is_dir():
                return self
            raise StorageError(
                f"The folder {self.folder} cannot be used: {why.strerror}. Choose another with --home."
            ) from why
        return self

    def _close_to_others(self) -> None:
        """Takes from other accounts what an earlier program let them read; the folder itself may be shared."""
        for path in (*self.folder.glob(f"{self.database.name}*"), self.identity, self.assignments, self.snapshots):
            with suppress(OSError):
                if path.stat().st_mode & 0o077:
                    path.chmod(0o700 if path.is_dir() else 0o600)

    def require_readable(self) -> Home:
        """Returns this home if this user may read it. Raises StorageError."""
        try:
            with suppress(FileNotFoundError, NotADirectoryError), os.scandir(self.folder):
                pass
        except OSError as why:
            raise StorageError(
                f"The folder {self.folder} cannot be read: {why.strerror}. Run this as the user who runs the gate."
            ) from why
        return self

    def holder(self) -> str:
        """A description of the process that uses this home; empty if none does."""
        with suppress(OSError), self.lock.open() as file:
            # An empty file was released properly; trying the lock could only disturb a process that is just starting.
            if file.read(1) and not _locked(file):
                return _describe_holder(file)
        return ""

    @contextmanager
    def held(self, doing: str) -> Iterator[None]:
        """Locks the home while the block runs; the system releases the lock even when the process is killed."""
        with self._open_lock() as file:
            if not _locked(file):
                raise Conflict(_in_use(self.folder, _describe_holder(file)), code="home_in_use")
            _write(file, json.dumps({"pid": os.getpid(), "doing": doing}))
            yield
            _write(file, "")

    def _open_lock(self) -> IO[str]:
        try:
            return self.lock.open("a+")
        except OSError as why:
            there = [path for path in (self.lock, self.identity, self.settings) if path.exists()]
            if why.errno in _CANNOT_WRITE and there:
                return there[0].open()  # the system's lock does not need to write
            raise StorageError(f"{self.lock} cannot be opened: {why.strerror}.") from why


def _locked(file: IO[str]) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _write(file: IO[str], text: str) -> None:
    # The system holds the lock itself; the name of its holder is only a courtesy, and a full disk may lack it.
    with suppress(OSError):
        os.ftruncate(file.fileno(), 0)
        os.pwrite(file.fileno(), text.encode(), 0)


def _describe_holder(file: IO[str]) -> str:
    with suppress(ValueError, KeyError, TypeError, OSError):
        file.seek(0)
        holder = json.load(file)
        return f"process {holder['pid']} (gatehouse-gate {holder['doing']})"
    return "another process"


def _in_use(folder: Path, holder: str) -> str:
    advice = "Only one process at a time may scan or sync there: stop it first, or use its screen."
    return f"{holder.capitalize()} is using {folder}. {advice}"
