"""Disks that cannot be written: read-only by a mount, or by permissions where nothing can be mounted; and full ones."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MOUNT = shutil.which("mount")
OBEYS_PERMISSIONS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
"""Starts a process for which permissions hold, although it is root's."""


@contextmanager
def read_only(folder: Path) -> Iterator[list[str]]:
    """Makes everything in the folder read-only; yields what a command must begin with for it to be so."""
    if os.geteuid() == 0 and MOUNT and _mount("--bind", str(folder), str(folder)):
        try:
            assert _mount("-o", "remount,ro,bind", str(folder))
            yield []
        finally:
            subprocess.run(["umount", "-l", str(folder)], check=True)
        return
    # Pipes stay as they are: what is written to them never reaches the disk.
    paths = [folder, *(path for path in folder.rglob("*") if path.is_dir() or path.is_file())]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        yield OBEYS_PERMISSIONS if os.geteuid() == 0 else []
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


@contextmanager
def full(folder: Path, mounted: bool) -> Iterator[None]:
    """While the block runs no byte fits on the disk of the folder; without a disk of its own, into no file."""
    if not mounted:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        return
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            with suppress(OSError):
                while file.write(b"\0" * size) == size:
                    pass
    yield
    filler.unlink()


def gate_command(*arguments: str, home: Path) -> list[str]:
    return [sys.executable, "-m", "gate_app", *arguments, "--home", str(home)]


def _mount(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0
