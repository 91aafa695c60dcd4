"""Disks that cannot be written: read-only by a mount, or by permissions where nothing can be mounted; and full ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MOUNT = shutil.which("mount")
NOBODY = 65534


@contextmanager
def read_only(folder: Path) -> Iterator[dict[str, Any]]:
    """Makes everything in the folder read-only; yields what a process must be started with for it to be so."""
    if os.geteuid() == 0 and MOUNT and _mount("--bind", str(folder), str(folder)):
        try:
            assert _mount("-o", "remount,ro,bind", str(folder))
            yield {}
        finally:
            subprocess.run(["umount", "-l", str(folder)], check=True)
        return
    paths = [folder, *folder.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        # Permissions do not bind root.
        yield {"user": NOBODY} if os.geteuid() == 0 else {}
    finally:
        for path in paths:
            path.chmod(0o755 if path.is_dir() else 0o644)


@contextmanager
def small_disk(folder: Path, size: str = "4m") -> Iterator[bool]:
    """A disk of its own in the folder; yields False where nothing can be mounted."""
    folder.mkdir(exist_ok=True)
    mounted = (
        os.geteuid() == 0 and MOUNT is not None and _mount("-t", "tmpfs", "-o", f"size={size}", "none", str(folder))
    )
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Fills the disk of the folder to its last byte with a file."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while file.write(b"\0" * size) == size:
                    pass
            except OSError:
                continue
    return filler


def gate_command(*arguments: str, home: Path) -> list[str]:
    return [sys.executable, "-m", "gate_app", *arguments, "--home", str(home)]


def _mount(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0
