"""Packages from npm that tests run: fetched once into `.cache`, checked against a known hash, never shipped."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
_FETCH_S: Final = 120


def npm_package(name: str, version: str, sha512: str) -> Path:
    """The folder of this package; the test is skipped where it can neither be found nor fetched.

    Packages that need others do not run: nothing but this one is fetched.
    """
    kept = ROOT / ".cache" / "npm" / f"{name.replace('/', '-').removeprefix('@')}-{version}"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            unpacked = _unpacked(_fetched(f"{name}@{version}", Path(folder)), sha512)
            if not kept.exists():  # another process of the tests may have been faster
                unpacked.rename(kept)
    return kept


def _fetched(package: str, folder: Path) -> Path:
    command = ["npm", "pack", package, "--silent", "--pack-destination", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=_FETCH_S)
    except (OSError, subprocess.SubprocessError) as problem:
        pytest.skip(f"{package} cannot be fetched here, perhaps there is no network: {problem}")
    (file,) = folder.glob("*.tgz")
    return file


def _unpacked(file: Path, sha512: str) -> Path:
    digest = hashlib.sha512(file.read_bytes()).digest()
    assert base64.b64encode(digest).decode() == sha512, f"{file.name} is not the package that was looked at"
    with tarfile.open(file) as archive:
        archive.extractall(file.parent)  # noqa: S202  # safe: this is what was looked at
    return file.parent / "package"
