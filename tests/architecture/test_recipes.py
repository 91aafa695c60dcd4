"""The recipes of CONTRIBUTING.md name files that exist, and what these files contain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, files

PAGE = ROOT / "CONTRIBUTING.md"
IN_CODE = re.compile(r"`([^`]+)`")
PLACEHOLDER = re.compile(r"<\w+>")
IS_PATH = re.compile(r"[\w./<>-]+(?:/|\.(?:py|html|css|js|md|json|toml))")
IS_NAME = re.compile(r"@?(\w+)(?:\(\))?")


@dataclass(frozen=True)
class Row:
    """One row of a recipe: where, and what to change there."""

    recipe: str
    places: str
    change: str

    def __str__(self) -> str:
        return f"{self.recipe}: {self.places}"


def rows(page: str) -> Iterator[Row]:
    for section in page.split("\n## ")[1:]:
        recipe, _, text = section.partition("\n")
        for line in text.splitlines():
            if line.startswith("| ") and not line.startswith("| place |"):
                places, change = line.strip("| ").split(" | ", 1)
                yield Row(recipe, places, change)


def paths(text: str) -> Iterator[str]:
    """The paths that a text names; a bare name lies in the folder of the path before it."""
    folder = Path()
    for name in IN_CODE.findall(text):
        if IS_PATH.fullmatch(name) or (ROOT / name).is_file():
            path = folder / name if not (ROOT / Path(name).parts[0]).exists() else Path(name)
            folder = path if name.endswith("/") else path.parent
            yield str(path)


def found(path: str) -> list[Path]:
    """The files that a path means: one, all of a folder, or those like a placeholder."""
    if (ROOT / path).is_dir():
        return [file for file in files() if Path(path) in file.parents]
    pattern = PLACEHOLDER.sub("*", path)
    return [file for file in files() if file.match(pattern) and len(file.parts) == len(Path(path).parts)]


def names(text: str) -> list[str]:
    """What a change names in the code of its place, without paths and commands."""
    return [match[1] for name in IN_CODE.findall(text) if (match := IS_NAME.fullmatch(name))]


ROWS = list(rows(PAGE.read_text("utf-8")))


def test_all_seven_recipes_are_read() -> None:
    assert len({row.recipe for row in ROWS}) == 7
    assert len(ROWS) > 50


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_recipe_names_files_that_exist(row: Row) -> None:
    assert [path for path in paths(f"{row.places} {row.change}") if not found(path)] == []


@pytest.mark.parametrize("row", [row for row in ROWS if list(paths(row.places))], ids=str)
def test_a_recipe_names_what_its_files_contain(row: Row) -> None:
    here = {file for path in paths(f"{row.places} {row.change}") for file in found(path)}
    words = {word for file in here for word in re.findall(r"\w+", (ROOT / file).read_text("utf-8", "replace"))}
    assert [name for name in names(row.change) if name not in words] == []
