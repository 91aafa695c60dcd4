"""Checks released migrations: their files never change again, because databases have run them."""

from __future__ import annotations

import hashlib
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

VERSIONS: Final = Path("sync_server", "migrations", "versions")
MANIFEST: Final = Path("sync_server", "migrations", "released.toml")
HEAD: Final = "# Released migrations and their checksums; scripts/draft-migration --freeze adds those that are new.\n"


def mistakes(root: Path) -> list[str]:
    """What is wrong with the released migrations of a tree, as messages; nothing where none is released."""
    listed = released(root)
    return [*_of_files(root, listed), *_of_manifest(listed, _released_before(root))]


def released(root: Path) -> dict[str, str]:
    """The checksums of the released migrations by file name."""
    manifest = root / MANIFEST
    return _read(manifest.read_text("utf-8")) if manifest.is_file() else {}


def freeze(root: Path) -> list[str]:
    """Add every migration that is not released yet to the manifest; returns their names. ValueError for a mistake."""
    if found := mistakes(root):
        raise ValueError("\n".join(found))
    listed = released(root)
    added = [name for name in _files(root) if name not in listed]
    listed |= {name: _checksum(root / VERSIONS / name) for name in added}
    lines = (f'"{name}" = "{checksum}"\n' for name, checksum in sorted(listed.items()))
    (root / MANIFEST).write_text(HEAD + "".join(lines), "utf-8")
    return added


def _of_files(root: Path, listed: Mapping[str, str]) -> Iterator[str]:
    for name, checksum in listed.items():
        path = root / VERSIONS / name
        if not path.is_file():
            yield f"{VERSIONS / name}: was released, and is missing. Put it back."
        elif _checksum(path) != checksum:
            yield f"{VERSIONS / name}: was released and has changed. Undo that, and draft a new migration instead."
    newest = max(listed, default="")
    for name in _files(root):
        if name not in listed and name < newest:
            yield f"{VERSIONS / name}: comes before {newest}, which was released. Give it the next number."


def _of_manifest(listed: Mapping[str, str], before: Mapping[str, str]) -> Iterator[str]:
    for name, checksum in before.items():
        if listed.get(name) != checksum:
            yield f"{MANIFEST}: {name} was released with another checksum, or is no longer listed. Undo that."


def _released_before(root: Path) -> dict[str, str]:
    """What the manifest said first of each file, in any commit that this one is built on (decision 68)."""
    found: dict[str, str] = {}
    for commit in _git(root, "log", "--full-history", "--format=%H", "HEAD", "--", MANIFEST.as_posix()).split():
        found |= _read(_git(root, "show", f"{commit}:{MANIFEST.as_posix()}"))  # the newest comes first
    return found


def _git(root: Path, *arguments: str) -> str:
    """What git says; nothing where it has nothing to say, or this is no repository."""
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False).stdout


def _read(text: str) -> dict[str, str]:
    return {name: str(checksum) for name, checksum in tomllib.loads(text).items()}


def _files(root: Path) -> list[str]:
    return sorted(path.name for path in (root / VERSIONS).glob("[0-9]*.py"))


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
