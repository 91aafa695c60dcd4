"""Each top folder has a README of at most a page, and decisions are numbered and listed."""

from __future__ import annotations

import pytest

from tests.architecture.tree import LAUNCHER, PRODUCT, ROOT

MAX_LINES = 60


@pytest.mark.parametrize("folder", [*PRODUCT, LAUNCHER, "scripts", "tests"])
def test_a_folder_has_a_readme_of_one_page(folder: str) -> None:
    readme = ROOT / folder / "README.md"
    assert readme.is_file()
    assert 3 <= len(readme.read_text().splitlines()) <= MAX_LINES


def test_decisions_are_numbered_and_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text()
    pages = sorted(path.name for path in folder.glob("[0-9]*.md"))
    assert pages
    assert [name for name in pages if name not in index] == []
    assert len({name[:4] for name in pages}) == len(pages)
