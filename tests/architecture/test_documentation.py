"""Pages name what exists, and every page and picture can be found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.tree import LAUNCHER, PRODUCT, ROOT, files

PAGES = [path for path in files() if path.suffix == ".md"]
DOCS = Path("docs")
INDEX = DOCS / "README.md"
#: A decision keeps the names of its day.
CURRENT = [path for path in PAGES if path.parent != DOCS / "decisions"]
FOLDERS = (*PRODUCT, LAUNCHER, "deploy", "docs", "requirements", "scripts", "tests")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
NAMED = re.compile(rf"(?<![\w/.-])((?:{'|'.join(FOLDERS)})/[\w./-]*[\w/])")
DIAGRAM = re.compile(r"```mermaid\n(.*?)```", re.DOTALL)


def text(page: Path) -> str:
    return (ROOT / page).read_text("utf-8")


def links(page: Path) -> list[str]:
    return [target for target in LINK.findall(text(page)) if "://" not in target]


def linked(page: Path) -> set[Path]:
    return {(ROOT / page.parent / target).resolve().relative_to(ROOT) for target in links(page)}


def exists(name: str) -> bool:
    """Whether a file, folder or module is called this; patterns and examples are not names."""
    path = ROOT / name.rstrip("/.")
    return path.exists() or path.with_suffix(".py").exists()


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    beside = Path("docs") if page.name.endswith(".head.md") else page.parent  # the head of a generated page
    assert [target for target in links(page) if not (ROOT / beside / target).exists()] == []


@pytest.mark.parametrize("page", CURRENT, ids=str)
def test_paths_that_a_page_names_exist(page: Path) -> None:
    assert [name for name in NAMED.findall(text(page)) if not exists(name)] == []


def test_every_page_is_listed_once() -> None:
    listed = [target for target in links(INDEX) if not target.startswith("..")]
    pages = {page.name for page in PAGES if page.parent == DOCS} - {INDEX.name}
    assert sorted(target for target in listed if target.endswith(".md") and "/" not in target) == sorted(pages)


def test_every_decision_is_listed() -> None:
    decisions = {page for page in PAGES if page.parent == DOCS / "decisions"} - {DOCS / "decisions" / "README.md"}
    assert decisions == linked(DOCS / "decisions" / "README.md")


def test_every_picture_is_shown() -> None:
    pictures = {path for path in files() if path.parent == DOCS / "pictures"}
    shown = {target for page in PAGES for target in linked(page)}
    assert pictures - shown == set(), "retake them with scripts/pictures, and show or delete them"


def test_every_node_of_a_diagram_is_a_module() -> None:
    diagrams = "".join(DIAGRAM.findall(text(DOCS / "architecture.md")))
    named = NAMED.findall(diagrams.replace("<br>", " "))
    assert len(named) > 30
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_modules_in_the_readme_of_a_folder_exist() -> None:
    missing = [
        f"{folder}/{name}" for folder in PRODUCT for name in first_cells(folder) if not exists(f"{folder}/{name}")
    ]
    assert missing == []


@pytest.mark.parametrize("folder", [*PRODUCT, "scripts"])
def test_the_readme_of_a_folder_names_its_packages(folder: str) -> None:
    packages = {path.parts[1] for path in files() if path.parts[0] == folder and path.name == "__init__.py"}
    readme = text(Path(folder) / "README.md")
    assert [name for name in sorted(packages - {"__init__.py"}) if f"`{name}/" not in readme] == []


def first_cells(folder: str) -> list[str]:
    """What stands in backticks in the first column of the README's tables."""
    rows = (line.split("|")[1] for line in text(Path(folder) / "README.md").splitlines() if line.startswith("| `"))
    return [name for cell in rows for name in re.findall(r"`([\w./]+)`", cell)]


def test_the_glossary_is_short_sorted_and_has_each_word_once() -> None:
    words = re.findall(r"^\| ([\w -]+) \|", text(DOCS / "glossary.md"), re.MULTILINE)[1:]
    assert 35 <= len(words) <= 50
    assert words == sorted(set(words), key=str.lower)
