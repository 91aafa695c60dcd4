"""The main job from an event to a scan that outlived the server's absence, with the very programs that people run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.house.walk import STEPS

COMMAND = [sys.executable, "-m", "scripts.house", "--check"]


def traces(root: Path) -> set[Path]:
    return set((root / "var").glob("check-*"))


def test_the_walk_holds_from_the_first_step_to_the_last(pytestconfig: pytest.Config) -> None:
    before = traces(pytestconfig.rootpath)
    done = subprocess.run(COMMAND, cwd=pytestconfig.rootpath, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall("^✓", done.stdout, re.MULTILINE)) == len(STEPS)
    assert traces(pytestconfig.rootpath) <= before


def test_ctrl_c_in_the_middle_leaves_no_program_behind(pytestconfig: pytest.Config) -> None:
    with subprocess.Popen(
        COMMAND, cwd=pytestconfig.rootpath, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as walk:
        assert walk.stdout is not None
        assert walk.stdout.readline().startswith("✓")
        folder = max(traces(pytestconfig.rootpath), key=lambda path: path.stat().st_mtime)
        walk.send_signal(signal.SIGINT)
        walk.wait()
    assert programs_in(folder) == []


def programs_in(folder: Path) -> list[str]:
    """The processes that still speak of the folder in their settings."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            settings = (process / "environ").read_bytes()
        except OSError:
            continue
        if os.fsencode(folder) in settings:
            found.append(process.name)
    return found
