"""Programs end at once: Python does not search all that they have imported for garbage once more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


COUNTED = "gc.get_freeze_count(), len(gc.get_objects())"


def counted(program: str) -> tuple[int, int]:
    """Of the objects that the program's last line counts: how many no search looks at, and how many it does."""
    command = [sys.executable, "-c", f"import atexit, gc, sys; {program}"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    exempt, searched = said.split()[-2:]
    return int(exempt), int(searched)


def counted_at_the_end(program: str) -> tuple[int, int]:
    return counted(f"atexit.register(lambda: print({COUNTED})); {program}")


@pytest.mark.parametrize("program", ["gate_app", "sync_server"])
def test_a_command_ends_without_a_search(program: str) -> None:
    main = f"from {program}.__main__ import main; sys.argv = ['program', '--version']; main()"
    exempt, searched = counted_at_the_end(main)
    assert exempt > 10_000
    assert searched == 0


def test_a_command_of_the_gate_begins_with_what_it_imported_exempt() -> None:
    exempt, searched = counted(
        f"import gate_app.__main__ as gate; gate.app = lambda **_: print({COUNTED}); gate.main()"
    )
    assert exempt > 10_000
    assert searched < 100


def test_a_library_that_reports_what_is_not_collected_has_nothing_to_report() -> None:
    exempt, _ = counted_at_the_end("import zxingcpp; from shared.garbage import seldom_collect; seldom_collect()")
    assert exempt == 0
