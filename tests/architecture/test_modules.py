"""Modules have a docstring, are short, and have descriptive names."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, is_migration, modules, product_modules

MAX_LINES = 400
MEANINGLESS = {"common", "helper", "helpers", "manager", "managers", "misc", "util", "utils", "data"}


def docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse((ROOT / path).read_text())) or ""


def test_every_module_starts_with_a_docstring() -> None:
    undocumented = [str(path) for path in modules() if not docstring(path).split("\n\n")[0].strip().endswith(".")]
    assert undocumented == []


def test_no_module_is_too_long() -> None:
    read = [path for path in modules() if not is_migration(path)]
    assert [str(path) for path in read if len((ROOT / path).read_text().splitlines()) > MAX_LINES] == []


def test_no_module_has_a_meaningless_name() -> None:
    meaningless = [str(path) for path in modules() if {path.stem, *path.parent.parts} & MEANINGLESS]
    assert meaningless == []


@pytest.mark.parametrize("word", ["TO" + "DO", "FIX" + "ME", "NotImplemented" + "Error", "X" * 3])
def test_nothing_is_left_unfinished(word: str) -> None:
    unfinished = [str(path) for path in modules() if word in (ROOT / path).read_text()]
    assert unfinished == []


def test_functions_are_short() -> None:
    """The median function has at most 9 lines, and 95 in 100 have at most 45."""
    lengths = sorted(
        length for path in product_modules() if not is_migration(path) for length in function_lengths(path)
    )
    assert lengths[len(lengths) // 2] <= 9
    assert lengths[len(lengths) * 95 // 100] <= 45


def function_lengths(path: Path) -> list[int]:
    nodes = ast.walk(ast.parse((ROOT / path).read_text()))
    return [body_length(node) for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def body_length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1
