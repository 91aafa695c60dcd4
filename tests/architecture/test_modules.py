"""Modules say what they are for, are short, and are named after what lives in them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, is_migration, modules, product_modules

LONGEST = 400
DRAWERS = {"common", "helper", "helpers", "manager", "managers", "misc", "util", "utils", "data"}


def docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse((ROOT / path).read_text())) or ""


def test_every_module_begins_with_a_sentence_that_says_what_it_is_for() -> None:
    silent = [str(path) for path in modules() if not docstring(path).split("\n\n")[0].strip().endswith(".")]
    assert silent == []


def test_no_module_is_too_long_to_be_read_in_one_go() -> None:
    read = [path for path in modules() if not is_migration(path)]
    assert [str(path) for path in read if len((ROOT / path).read_text().splitlines()) > LONGEST] == []


def test_nothing_is_named_like_a_drawer() -> None:
    drawers = [str(path) for path in modules() if {path.stem, *path.parent.parts} & DRAWERS]
    assert drawers == []


@pytest.mark.parametrize("word", ["TO" + "DO", "FIX" + "ME", "NotImplemented" + "Error", "X" * 3])
def test_nothing_is_left_for_later(word: str) -> None:
    unfinished = [str(path) for path in modules() if word in (ROOT / path).read_text()]
    assert unfinished == []


def test_product_code_is_measured_by_the_function() -> None:
    """The median function fits into a glance; a tree of long ones would be another program."""
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
