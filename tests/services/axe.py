"""axe-core, which finds what keeps people from using a page; fetched once from npm into `.cache`, never shipped."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import tarfile
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page

ROOT: Final = Path(__file__).parents[2]
VERSION: Final = "4.10.3"
SHA512: Final = "Xm7bpRXnDSX2YE2YFfBk2FnF0ep6tmG7xPh8iHee8MIcrgq762Nkce856dYtJYLkuIoYZvGfTs/PbZhideTcEg=="
"""Of the package, as the registry names it."""
_FETCH_S: Final = 120
_RULES: Final = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def violations(page: Page) -> list[str]:
    """What axe finds on a page as it is now: rule, and the first element concerned; skipped without axe."""
    page.evaluate(_script())
    found = page.evaluate("options => axe.run(document, options).then(result => result.violations)", _RULES)
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]} {each['nodes'][0]['failureSummary']}" for each in found]


def _script() -> str:
    kept = ROOT / ".cache" / f"axe-core-{VERSION}.min.js"
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        kept.write_bytes(_fetched(kept.parent))
    return kept.read_text(encoding="utf-8")


def _fetched(folder: Path) -> bytes:
    command = ["npm", "pack", f"axe-core@{VERSION}", "--silent", "--pack-destination", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=_FETCH_S)
    except (OSError, subprocess.SubprocessError) as problem:
        pytest.skip(f"axe-core cannot be fetched here, perhaps there is no network: {problem}")
    package = folder / f"axe-core-{VERSION}.tgz"
    content = package.read_bytes()
    assert base64.b64encode(hashlib.sha512(content).digest()).decode() == SHA512, "not the package that was looked at"
    with tarfile.open(package) as archive:
        script = archive.extractfile("package/axe.min.js")
        assert script is not None
        found = script.read()
    package.unlink()
    return found
