"""Requests that may be sent again with the same Idempotency-Key are described so, and no others."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.architecture.tree import ROOT, product_modules

HEEDS = {"run_once", "stored_response", "start_parts"}
"""What looks at the key; the last starts an import in parts."""
NOTED = {"once", "idempotency.once", "repeatable", "idempotency.repeatable"}
WRITES = {"post", "put", "patch", "delete"}


def test_a_view_is_noted_as_repeatable_where_it_heeds_the_key_and_only_there() -> None:
    views = {f"{path}: {view.name}": pair for path in product_modules() for view, *pair in in_module(path)}
    assert len(views) > 100, "the views are not found"
    assert [name for name, (heeds, noted) in views.items() if heeds != noted] == []


def in_module(path: Path) -> list[tuple[ast.FunctionDef, bool, bool]]:
    """The views of a module that write; whether each heeds the key, and whether it is noted."""
    if (
        path.parts[0] != "sync_server"
        or "plumbing" in path.parts
        or "admin" in path.parts
        or "storefront" in path.parts
    ):
        return []
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    functions = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
    helpers = {each.name for each in functions if not each.decorator_list and HEEDS & names(each)}
    return [
        (
            each,
            bool((HEEDS | helpers) & names(each)) or bool({"once", "idempotency.once"} & decorators(each)),
            bool(NOTED & decorators(each)),
        )
        for each in functions
        if any(written.rpartition(".")[2].split("(")[0] in WRITES for written in routed(each))
    ]


def names(function: ast.FunctionDef) -> set[str]:
    """What a function names, beside its decorators."""
    nodes = [node for statement in function.body for node in ast.walk(statement)]
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return attributes | {node.id for node in nodes if isinstance(node, ast.Name)}


def decorators(function: ast.FunctionDef) -> set[str]:
    """The decorators that take no arguments."""
    return {ast.unparse(each) for each in function.decorator_list if not isinstance(each, ast.Call)}


def routed(function: ast.FunctionDef) -> list[str]:
    """The decorators that take arguments, without these."""
    return [ast.unparse(each.func) for each in function.decorator_list if isinstance(each, ast.Call)]
