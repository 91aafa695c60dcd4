"""The names of benchmarks and cases that machines look for are those that the benchmarks print.

The cases of a run are known only once it is over, and some runs take an hour. So the texts of the modules are read: a
case is printed by a benchmark if one of its texts says it, with constants filled in and anything in other gaps.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.benchmarking import registry
from tests.architecture.tree import ROOT

PROMISED: dict[str, tuple[str, ...]] = {
    "allocate": ("60000 seats", "sell-through percent", "orphans percent"),
    "best": (
        "postgresql 40 guests at once",
        "sqlite 40 guests at once",
        "postgresql 60000 seats 26000 sold processor",
        "sqlite 60000 seats 26000 sold processor",
    ),
    "crowd": ("20000 visitors origin requests",),
    "decode": ("approach 480p percent of people", "720p frame without code", "phantom reads"),
    "door": ("code in view to lamp throttled", "frame to lamp", "resident MB"),
    "facts": ("commit to stream", "relay per second"),
    "feed": (
        "postgresql 1000000 events",
        "sqlite 1000000 events",
        "postgresql 1000000 events growth",
        "sqlite 1000000 events growth",
    ),
    "idle": ("statements", "processor"),
    "pages": ("event page per second", "feed page per second", "admin pages"),
    "propagate": ("50 gates",),
    "purchase": (
        "postgresql 4 tickets 8 clients",
        "40 buyers one block",
        "queue rush sold",
        "queue rush order violations",
        "replayed passes accepted",
        "draw 1000000 entries",
    ),
    "reserve": ("postgresql 8 clients", "postgresql 100 clients", "sqlite 8 clients", "oversold"),
    "scan": ("200000 tickets",),
    "seatmap": ("60000 seats first answer", "60000 seats kilobytes"),
    "snapshot": ("200000 tickets seconds", "200000 tickets bytes per ticket", "200000 tickets gate resident MB"),
    "streams": (
        "10000 streams kilobytes each",
        "5000 streams change to page",
        "requests beside streams",
        "200 gates waiting threads",
    ),
    "upload": ("postgresql scans per second", "sqlite scans per second"),
}
IMPORTED = re.compile(r"^from scripts\.benchmarking\.([\w.]+) import (.+)$", re.MULTILINE)
ANYTHING = ".*"
CASES = [(bench, case) for bench, cases in PROMISED.items() for case in cases]


@pytest.mark.parametrize(("bench", "case"), CASES, ids=[" ".join(each) for each in CASES])
def test_a_promised_case_is_printed_by_its_benchmark(bench: str, case: str) -> None:
    assert bench in registry.names()
    files = list(_files(bench))
    assert any(re.fullmatch(text, case) for file in files for text in _texts(file)), files


def test_cases_of_reading_are_measured_with_other_decoders_too() -> None:
    (decoders,) = (node.value for node in _assigned(ROOT / "scripts/bench_cases/gate/decode.py", "DECODERS"))
    assert isinstance(decoders, ast.Dict)
    assert [ast.literal_eval(key) for key in decoders.keys if key] == ["", "zxing-cpp", "pyzbar", "opencv"]


def test_a_text_says_a_case_only_with_its_own_words(tmp_path: Path) -> None:
    file = tmp_path / "case.py"
    file.write_text('COUNT = 60_000\nyield f"{database} {COUNT} seats", f"{a} {b}", "60000 places"\n')
    assert list(_texts(file)) == [".*\\ 60000\\ seats", "60000\\ places"]


def _files(bench: str) -> Iterator[Path]:
    """The module of a benchmark, and those of the framework that it measures with."""
    (module,) = (ROOT / "scripts/bench_cases").glob(f"*/{bench}.py")
    yield module
    for inside, names in IMPORTED.findall(module.read_text()):
        for name in names.split(","):
            inner = (ROOT / "scripts/benchmarking").joinpath(*inside.split("."))
            yield file if (file := inner.with_suffix(".py")).exists() else inner / f"{name.strip()}.py"


def _assigned(file: Path, name: str) -> list[ast.AnnAssign]:
    body = ast.parse(file.read_text()).body
    return [node for node in body if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name]


def _texts(file: Path) -> Iterator[str]:
    """Each text of a module as a pattern; one without a word of its own says nothing."""
    tree = ast.parse(file.read_text())
    constants = dict(_constants(tree))
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and any(_has_words(part) for part in node.values):
            yield "".join(_pattern(part, constants) for part in node.values)
        elif id(node) not in inner and _has_words(node):
            yield re.escape(str(node.value))  # type: ignore[attr-defined]  # a text, as just seen


def _constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield ast.unparse(target), str(node.value.value)


def _has_words(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"\w", node.value) is not None


def _pattern(part: ast.expr, constants: dict[str, str]) -> str:
    if isinstance(part, ast.Constant):
        return re.escape(str(part.value))
    name = ast.unparse(part.value) if isinstance(part, ast.FormattedValue) else ""
    return re.escape(constants[name]) if name in constants else ANYTHING
