"""Finds the installed programs that private servers run."""

from __future__ import annotations

import shutil
from pathlib import Path


class NotInstalledError(RuntimeError):
    """A required program is not installed."""


def find_program(name: str, package: str, *folders: str) -> str:
    """The newest `name` on the path or in `folders` (patterns below /); NotInstalledError names the Debian package."""
    candidates = [
        str(path / name) for folder in folders for path in sorted(Path("/").glob(folder), key=_version, reverse=True)
    ]
    for candidate in [*candidates, name]:
        if found := shutil.which(candidate):
            return found
    raise NotInstalledError(
        f"{name} is not installed. Run scripts/test, which installs it, or: apt-get install {package}"
    )


def _version(path: Path) -> tuple[tuple[int, ...], str]:
    digits = "".join(letter if letter.isdigit() else " " for letter in str(path))
    return tuple(int(part) for part in digits.split()), str(path)
