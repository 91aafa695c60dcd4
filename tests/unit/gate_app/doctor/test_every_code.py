"""No fault that the doctor names is untried or undocumented: a new code fails here until it has a test and a row."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from gate_app.doctor.finding import Code

HERE = Path(__file__)
GUIDE = HERE.parents[4] / "docs" / "gate-install.md"


def written_in_tests() -> set[str]:
    """Every text that stands alone in the doctor's tests."""
    trees = [ast.parse(path.read_text("utf-8")) for path in HERE.parent.glob("test_*.py") if path != HERE]
    constants = [node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return {value for value in constants if isinstance(value, str)}


def in_the_guide() -> set[str]:
    """The codes in the second column of the guide's table."""
    _, _, table = GUIDE.read_text("utf-8").partition("| part | codes |\n")
    rows = table.partition("\n\n")[0].splitlines()
    return {code for row in rows for code in re.findall(r"`(\w+)`", row)}


@pytest.mark.parametrize("code", Code)
def test_a_code_is_brought_about_by_a_test(code: Code) -> None:
    assert code in written_in_tests(), f"nobody has seen the doctor say {code}"


def test_the_guide_lists_every_code() -> None:
    assert in_the_guide() == set(Code)
