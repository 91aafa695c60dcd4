"""A newcomer at the scripts: a mistake is one line that says what is wrong, with status 2, and nothing is done."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, files

MISTAKES = (
    ("scripts/bench", "--nonsense"),
    ("scripts/bench", "no-such-bench"),
    ("scripts/check", "--nonsense"),
    ("scripts/check", "extra"),
    ("scripts/draft-migration", "--frist"),
    ("scripts/install-gate", "--nonsense"),
    ("scripts/install-gate", "extra"),
    ("scripts/pictures", "extra"),
    ("scripts/pins", "--nonsense"),
    ("scripts/pins", "--upgrade", "extra"),
    ("scripts/run", "--port", "x"),
    ("scripts/run", "--nonsense"),
    ("scripts/test", "--quick", "tests/unit"),
    ("scripts/test", "--affected", "main", "--quick"),
    ("scripts/verify_draw.py", "--nonsense"),
    ("scripts/verify_draw.py", "draw.json", "--entry", "x"),
    ("scripts/verify_draw.py",),
    (".ci/run", "--quick"),
)
LIBRARY = {"scripts/__init__.py", "scripts/arguments.py", "scripts/README.md"}


@pytest.mark.parametrize("mistake", MISTAKES, ids=" ".join)
def test_a_mistake_is_one_line_with_status_2(mistake: tuple[str, ...], tmp_path: Path) -> None:
    script, *arguments = mistake
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_TEST_")}
    done = subprocess.run(
        [ROOT / script, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done
    assert list(tmp_path.iterdir()) == []


def test_every_script_is_tried() -> None:
    scripts = {str(path) for path in files() if path.parent == Path("scripts")} - LIBRARY
    assert {mistake[0] for mistake in MISTAKES} == scripts | {".ci/run"}
