"""The main job, from creating an event to a scan made while the server is down, with the real programs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.local_stack.__main__ import CHECK_FOLDER
from scripts.local_stack.main_job import STEPS

COMMAND = [sys.executable, "-m", "scripts.local_stack", "--check"]


def settings(folder: Path) -> dict[str, str]:
    """A folder of its own for the check: others may run beside it."""
    return {**os.environ, CHECK_FOLDER: str(folder)}


def test_every_step_passes(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    done = subprocess.run(
        COMMAND, cwd=pytestconfig.rootpath, env=settings(tmp_path), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall("^✓", done.stdout, re.MULTILINE)) == len(STEPS)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_in_the_middle_leaves_no_program_behind(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    with subprocess.Popen(
        COMMAND,
        cwd=pytestconfig.rootpath,
        env=settings(tmp_path),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as check:
        assert check.stdout is not None
        assert check.stdout.readline().startswith("✓")
        (folder,) = tmp_path.iterdir()
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
