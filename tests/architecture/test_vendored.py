"""Vendored files match their manifests, and the check finds those that do not."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from scripts.checks.vendored import all_mistakes
from tests.architecture.tree import ROOT

CONTENT = b"export {};\n"


def entry(*, licence: str = "MIT", sha256: str = hashlib.sha256(CONTENT).hexdigest()) -> str:
    return f'[[files]]\nfile = "part.js"\nversion = "1.0"\nlicence = "{licence}"\nsha256 = "{sha256}"\n'


def a_vendor_folder(root: Path, manifest: str | None) -> Path:
    folder = root / "sync_server" / "static" / "vendor"
    folder.mkdir(parents=True)
    (folder / "part.js").write_bytes(CONTENT)
    if manifest is not None:
        (folder / "MANIFEST.toml").write_text(manifest)
    return folder


def test_what_is_vendored_here_is_listed_and_unaltered() -> None:
    assert all_mistakes(ROOT) == []


def test_a_listed_file_is_no_mistake(tmp_path: Path) -> None:
    a_vendor_folder(tmp_path, entry())
    assert all_mistakes(tmp_path) == []


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (None, "has no MANIFEST.toml"),
        ("", "not in MANIFEST.toml"),
        (entry(sha256="0" * 64), "does not match its sha256"),
        (entry(licence="AGPL-3.0"), "not a licence that may be vendored"),
        (entry(licence=""), "lacks licence"),
        (entry().replace("part.js", "gone.js"), "listed, but missing"),
    ],
)
def test_a_mistake_is_reported(tmp_path: Path, manifest: str | None, message: str) -> None:
    a_vendor_folder(tmp_path, manifest)
    assert any(message in mistake for mistake in all_mistakes(tmp_path))
