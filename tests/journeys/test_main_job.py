"""The main job, from creating an event to a scan made while the server is down, with the real programs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.local_stack.main_job import STEPS

COMMAND = [sys.executable, "-m", "scripts.local_stack", "--check"]


def check_folders(root: Path) -> set[Path]:
    return set((root / "var").glob("check-*"))


def test_every_step_passes(pytestconfig: pytest.Config) -> None:
    before = check_folders(pytestconfig.rootpath)
    done = subprocess.run(COMMAND, cwd=pytestconfig.rootpath, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall("^✓", done.stdout, re.MULTILINE)) == len(STEPS)
    assert check_folders(pytestconfig.rootpath) <= before


def test_ctrl_c_in_the_middle_leaves_no_program_behind(pytestconfig: pytest.Config) -> None:
    with subprocess.Popen(
        COMMAND, cwd=pytestconfig.rootpath, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as check:
        assert check.stdout is not None
        assert check.stdout.readline().startswith("✓")
        folder = max(check_folders(pytestconfig.rootpath), key=lambda path: path.stat().st_mtime)
        check.send_signal(signal.SIGINT)
        check.wait()
    assert programs_in(folder) == []


def programs_in(folder: Path) -> list[str]:
    """The processes that have the folder in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
        except OSError:
            continue
        if os.fsencode(folder) in environment:
            found.append(process.name)
    return found
