"""The files of the project as git lists them, its packages and its modules."""

from __future__ import annotations

import subprocess
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("gate_app", "hardware", "shared", "sync_server")
LAUNCHER = "gatehouse_programs"
"""The one package that an installation shows to others; in the wheel it carries the product."""


@cache
def files() -> tuple[Path, ...]:
    """Every file that is committed or would be, relative to the root."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True)
    named = (Path(name) for name in done.stdout.split("\0") if name)
    return tuple(sorted({path for path in named if (ROOT / path).is_file()}))


def modules() -> list[Path]:
    """Every Python file, without vendored ones."""
    return [path for path in files() if path.suffix == ".py" and "vendor" not in path.parts]


def product_modules() -> list[Path]:
    """The modules that are installed."""
    return [path for path in modules() if path.parts[0] in PRODUCT]


def is_migration(path: Path) -> bool:
    """Whether this is a migration: as long as the schema requires, and never changed again."""
    return path.parts[-3:-1] == ("migrations", "versions")


def packages() -> set[str]:
    """The dotted names of all folders with product modules."""
    return {".".join(path.parent.parts) for path in product_modules() if not is_migration(path)}


@cache
def project() -> dict[str, Any]:
    """The contents of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())
