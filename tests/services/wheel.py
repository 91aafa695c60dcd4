"""Builds the wheel, from a copy of the tree because building leaves files in it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.architecture.tree import ROOT, files


def build_wheel(folder: Path) -> Path:
    """The wheel of this tree, built in the folder without any network."""
    tree = folder / "tree"
    for path in files():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tree / path)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    done = subprocess.run([*build, "-w", str(folder), str(tree)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel
