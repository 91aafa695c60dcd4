"""Checks vendored files: each must be in a manifest with version, licence and checksum."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MANIFEST = "MANIFEST.toml"
#: Licences of files that an Apache-2.0 project may ship.
ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "OFL-1.1",
    "Bitstream-Vera",
    "Unlicense",
    "Zlib",
}
KEYS = ("file", "version", "licence", "sha256")


def vendor_folders(root: Path) -> list[Path]:
    """The folders of both applications that hold third-party files."""
    return sorted(path for app in ("sync_server", "gate_app") for path in (root / app).rglob("vendor") if path.is_dir())


def mistakes(folder: Path) -> Iterator[str]:
    """What is wrong with one vendor folder, as messages."""
    manifest = folder / MANIFEST
    if not manifest.is_file():
        yield f"{folder}: has no {MANIFEST}"
        return
    entries = tomllib.loads(manifest.read_text())
    listed = [entry for rows in entries.values() if isinstance(rows, list) for entry in rows]
    for entry in listed:
        yield from _wrong_entry(folder, entry)
    known = {entry.get("file") for entry in listed} | {MANIFEST}
    yield from (
        f"{folder / name}: not in {MANIFEST}" for name in _files(folder) if name not in known and not _is_licence(name)
    )


def _files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _is_licence(name: str) -> bool:
    return "LICEN" in name.upper()


def _wrong_entry(folder: Path, entry: dict[str, Any]) -> Iterator[str]:
    missing = [key for key in KEYS if not entry.get(key)]
    if missing:
        yield f"{folder / MANIFEST}: the entry for {entry.get('file', '?')} lacks {', '.join(missing)}"
        return
    if entry["licence"] not in ALLOWED:
        yield f"{folder / entry['file']}: {entry['licence']} is not a licence that may be vendored"
    path = folder / entry["file"]
    if not path.is_file():
        yield f"{path}: listed, but missing"
    elif hashlib.sha256(path.read_bytes()).hexdigest() != entry["sha256"]:
        yield f"{path}: does not match its sha256"


def all_mistakes(root: Path) -> list[str]:
    """What is wrong in all vendor folders."""
    return [mistake for folder in vendor_folders(root) for mistake in mistakes(folder)]
