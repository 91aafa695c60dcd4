"""Files that only the server's own account may read: a database holds guests' names and sealed keys."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

OWNER_ONLY: Final = 0o077
"""For `umask`: whatever this process creates is its owner's alone."""
SQLITE_SUFFIXES: Final = ("", "-wal", "-shm")


def create_private(file: Path) -> None:
    """Create the file, if there is none; whoever creates it for SQLite decides who may read what SQLite adds."""
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600))


def readable_by_others(database: Path) -> Iterator[Path]:
    """The files of an SQLite database that other accounts of this machine may read or write."""
    for suffix in SQLITE_SUFFIXES:
        file = Path(f"{database}{suffix}")
        with suppress(FileNotFoundError):
            if file.stat().st_mode & OWNER_ONLY:
                yield file


def make_private(database: Path) -> None:
    """Close the files of an SQLite database to other accounts; files of another owner stay, and `doctor` says so."""
    for file in readable_by_others(database):
        with suppress(OSError):
            file.chmod(0o600)
