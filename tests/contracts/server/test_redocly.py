"""The description of the API, read by Redocly's linter with the rules that it recommends."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.app_server import AppServer
from tests.services.npm_package import npm_package

VERSION: Final = "2.77.0"
SHA512: Final = "XUa4hURDWLPG9WukIXo+UBqa9VpeTndmLI5PHu9QDkwtwH990Jsgz9nl2m1pZjsWrKFPP7avn6etRxxDbuD2Bg=="
"""Of the package, as the registry names it."""
OLDEST_NODE: Final = (20, 19)


@pytest.fixture
def redocly() -> list[str]:
    """The command; skipped where Node is too old for it, as Debian 12's is."""
    node = shutil.which("node")
    assert node is not None, "scripts/test installs it"
    version = subprocess.run([node, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    if tuple(int(part) for part in version.removeprefix("v").split(".")[:2]) < OLDEST_NODE:
        pytest.skip(f"Redocly needs Node {OLDEST_NODE[0]}.{OLDEST_NODE[1]}; this is {version}")
    return [node, str(npm_package("@redocly/cli", VERSION, SHA512) / "bin" / "cli.js")]


def lint(redocly: list[str], description: Path) -> subprocess.CompletedProcess[str]:
    """By the recommended rules; `strict` makes errors of their warnings."""
    command = [*redocly, "lint", "--extends=recommended-strict", "--max-problems=50", str(description)]
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "HOME": str(description.parent)}
    folder = description.parent
    return subprocess.run(command, env=quiet, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def described(sqlite_url: str, folder: Path) -> str:
    """The same on every database."""
    made = AppServer(sqlite_url, folder)
    answer = made.app.test_client().get("/openapi.json").text
    made.close()
    return answer


def test_there_is_nothing_to_mend(sqlite_url: str, tmp_path: Path, redocly: list[str]) -> None:
    description = tmp_path / "openapi.json"
    description.write_text(described(sqlite_url, tmp_path))
    done = lint(redocly, description)
    assert done.returncode == 0, done.stdout + done.stderr
