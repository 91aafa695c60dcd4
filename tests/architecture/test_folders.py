"""Each top folder has a README of at most a page, none is too full, and decisions are numbered and listed."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.architecture.tree import LAUNCHER, PRODUCT, ROOT, is_migration, modules

MAX_LINES = 60
MAX_MODULES = 25


@pytest.mark.parametrize("folder", [*PRODUCT, LAUNCHER, "scripts", "tests"])
def test_a_folder_has_a_readme_of_one_page(folder: str) -> None:
    readme = ROOT / folder / "README.md"
    assert readme.is_file()
    assert 3 <= len(readme.read_text().splitlines()) <= MAX_LINES


def test_no_folder_is_too_full() -> None:
    told_apart = [path for path in modules() if path.parts[0] != "tests" and not is_migration(path)]
    counted = Counter(str(path.parent) for path in told_apart)
    full = {folder: count for folder, count in counted.items() if count > MAX_MODULES}
    assert full == {}, "give them rooms: sub-packages by subject"


def test_decisions_are_numbered_and_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text()
    pages = sorted(path.name for path in folder.glob("[0-9]*.md"))
    assert pages
    assert [name for name in pages if name not in index] == []
    assert len({name[:4] for name in pages}) == len(pages)
