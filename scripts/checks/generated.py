"""Pages that are made from code: each module of scripts/generated_docs names its file and makes its text."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, cast

import scripts.generated_docs


class Page(Protocol):
    """What a module of scripts/generated_docs offers."""

    #: The file it makes, below the root of the project.
    FILE: str

    def text(self) -> str:
        """The whole text of the file as the code has it now."""
        ...


def pages() -> Iterator[Page]:
    """Every page there is."""
    for module in pkgutil.iter_modules(scripts.generated_docs.__path__):
        yield cast("Page", importlib.import_module(f"scripts.generated_docs.{module.name}"))


def stale(root: Path, *, mend: bool) -> list[str]:
    """The pages that no longer say what the code says; with `mend` they are written anew and none is left."""
    old = [page for page in pages() if _standing(root / page.FILE) != page.text()]
    if not mend:
        return [f"{page.FILE}: no longer what the code says; scripts/check --fix makes it anew" for page in old]
    for page in old:
        (root / page.FILE).parent.mkdir(parents=True, exist_ok=True)
        (root / page.FILE).write_text(page.text())
    return []


def _standing(path: Path) -> str | None:
    return path.read_text() if path.is_file() else None
