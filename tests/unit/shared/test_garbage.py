"""Programs end at once: Python does not search all that they have imported for garbage once more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def kept_at_the_end(program: str) -> int:
    """The number of objects that are exempt from the last search."""
    asked = f"import atexit, gc, sys; atexit.register(lambda: print(gc.get_freeze_count())); {program}"
    command = [sys.executable, "-c", asked]
    return int(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()[-1])


@pytest.mark.parametrize("program", ["gate_app", "sync_server"])
def test_a_command_ends_without_searching_what_it_imported(program: str) -> None:
    main = f"from {program}.__main__ import main; sys.argv = ['program', '--version']; main()"
    assert kept_at_the_end(main) > 10_000


def test_a_library_that_reports_what_is_not_collected_has_nothing_to_report() -> None:
    assert kept_at_the_end("import zxingcpp; from shared.garbage import seldom_collect; seldom_collect()") == 0
