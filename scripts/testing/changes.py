"""Which tests a change affects: by the imports of the code, and by the folders named after its packages."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

import grimp

from scripts.testing.choice import Choice

PACKAGES: Final = ("gate_app", "hardware", "shared", "sync_server", "scripts", "tests")
SHARED: Final = (
    "pyproject.toml",
    "requirements",
    "scripts/test",
    "scripts/lib",
    "sync_server/app.py",
    "sync_server/runtime.py",
    "sync_server/plumbing/parts.py",
    "tests/conftest.py",
    "tests/services",
)
"""Whoever changes one of these runs everything."""
COMPOSITION_ROOTS: Final = frozenset(
    {"sync_server.workers", "sync_server.app", "sync_server.runtime", "sync_server.__main__", "gate_app.app"}
)
"""They import every package, so what reaches a test only through them says nothing about it."""
FOLDERS: Final = {"gate_app": "gate"}
"""Packages whose contracts have another name."""
PAGES: Final = frozenset({".html", ".js", ".css"})
ALWAYS: Final = "tests/architecture"
DOCUMENTATION: Final = "tests/unit/sync_server/test_documentation.py"


def since(root: Path, base: str | None) -> Choice:
    """The tests affected by what changed since `base`, committed or not; ValueError if git does not know it."""
    tests = sorted(str(path.relative_to(root)) for path in (root / "tests").rglob("test_*.py"))
    imports = {test: set(imported(root / test)) for test in [*tests, *_conftests(root)]}
    return choose(changed_files(root, base), imports, import_graph())


def changed_files(root: Path, base: str | None) -> list[str]:
    """The files that differ from `base`; without one, from where this branch left main."""
    start = base or _git(root, "merge-base", "main", "HEAD") or "HEAD"
    if not _git(root, "rev-parse", "--verify", "--quiet", f"{start}^{{commit}}"):
        raise ValueError(f"{start} is not a commit, branch or tag")
    changed = _git(root, "diff", "--name-only", "--no-renames", start)
    untracked = _git(root, "ls-files", "--others", "--exclude-standard")
    return sorted({*changed.splitlines(), *untracked.splitlines()})


def import_graph() -> grimp.ImportGraph:
    """The imports of all packages, without those by which a composition root imports everything."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=".cache/grimp")
    for importer in COMPOSITION_ROOTS & graph.modules:
        for module in graph.find_modules_directly_imported_by(importer):
            graph.remove_import(importer=importer, imported=module)
    return graph


def choose(changed: Iterable[str], imports: Mapping[str, set[str]], graph: grimp.ImportGraph) -> Choice:
    """The tests affected by changed files; `imports` has the modules that each test file and conftest imports."""
    chosen: dict[str, str] = {}
    for file in changed:
        if any(file == path or file.startswith(f"{path}/") for path in SHARED):
            return Choice(everything=file)
        for test in _affected(file, imports, graph):
            chosen.setdefault(test, file)
    return Choice(chosen)


def imported(file: Path) -> Iterator[str]:
    """The modules that a file imports, at the top or inside a function."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def _affected(file: str, imports: Mapping[str, set[str]], graph: grimp.ImportGraph) -> Iterator[str]:
    tests = [test for test in imports if PurePosixPath(test).name != "conftest.py"]
    path = PurePosixPath(file)
    if file in imports:
        yield from _governed_by(file, tests)
    if path.suffix == ".md":
        yield DOCUMENTATION
    if path.suffix in PAGES:
        yield from (test for test in tests if test.startswith("tests/browser/"))
    yield from (test for test in tests if test.startswith(ALWAYS))
    module = _module(path)
    reached = {module, *(graph.find_downstream_modules(module) if module in graph.modules else ())}
    for importer, modules in imports.items():
        if reached & modules:
            yield from _governed_by(importer, tests)
    yield from (test for test in tests if _is_named_after(test, path))


def _governed_by(file: str, tests: Iterable[str]) -> Iterator[str]:
    """A test file itself; of a conftest, all tests below it."""
    path = PurePosixPath(file)
    if path.name != "conftest.py":
        yield file
        return
    yield from (test for test in tests if test.startswith(f"{path.parent}/"))


def _is_named_after(test: str, changed: PurePosixPath) -> bool:
    """Whether a test lies in a folder of the changed file's package, or bears its name."""
    package = changed.parts[:2] if changed.parts[0] == "sync_server" else changed.parts[:1]
    if changed.parts[0] not in PACKAGES or changed.parts[0] in {"scripts", "tests"} or len(changed.parts) < 2:
        return False
    name = PurePosixPath(package[-1]).stem
    path = PurePosixPath(test)
    return bool({name, FOLDERS.get(name, name)} & set(path.parts)) or path.stem.removeprefix("test_").startswith(name)


def _module(path: PurePosixPath) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__") if path.suffix == ".py" else ""


def _conftests(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in (root / "tests").rglob("conftest.py"))


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
