"""Finds generated pages that are out of date: each module of scripts/generated_docs makes one."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, cast

import scripts.generated_docs


class Page(Protocol):
    """What a module of scripts/generated_docs offers."""

    #: The generated file, relative to the project root.
    FILE: str

    def text(self) -> str:
        """The text of the file, generated from the current code."""
        ...


def pages() -> Iterator[Page]:
    """All generated pages."""
    for found in pkgutil.iter_modules(scripts.generated_docs.__path__):
        module = importlib.import_module(f"scripts.generated_docs.{found.name}")
        if hasattr(module, "FILE"):  # the others are what several pages are made from
            yield cast("Page", module)


def stale(root: Path, *, fix: bool) -> list[str]:
    """Messages for the pages that are out of date; with `fix` they are rewritten instead."""
    old = [page for page in pages() if _current(root / page.FILE) != page.text()]
    if not fix:
        return [f"{page.FILE}: out of date; scripts/check --fix regenerates it" for page in old]
    for page in old:
        (root / page.FILE).parent.mkdir(parents=True, exist_ok=True)
        (root / page.FILE).write_text(page.text())
    return []


def _current(path: Path) -> str | None:
    return path.read_text() if path.is_file() else None
