"""The layouts that come with Gatehouse, to be used as they are or as a beginning."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from shared.badges.layout import Layout, read_layout

_FOLDER: Final = Path(__file__).with_name("layouts")


@cache
def names() -> tuple[str, ...]:
    """Their names, in the order in which they are offered."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


@cache
def text_of(name: str) -> str:
    """The layout as TOML; KeyError if there is none of this name."""
    if name not in names():
        raise KeyError(name)
    return (_FOLDER / f"{name}.toml").read_text(encoding="utf-8")


@cache
def layout_of(name: str) -> Layout:
    """The layout; KeyError if there is none of this name."""
    return read_layout(text_of(name))
