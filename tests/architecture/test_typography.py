"""What people read in French and Afrikaans is set as it is printed there: spaces that do not break, and apostrophes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from sync_server.ticket_files.page_words import PAGE_WORDS
from sync_server.ticket_files.words import WORDS

ROOT = Path(__file__).parents[2]
PACKAGES = ("gate_app", "shared", "sync_server")


def texts(language: str) -> Iterator[tuple[str, str]]:
    """Everything that is written in a language, and where."""
    for package in PACKAGES:
        for file in (ROOT / package).rglob(f"{language}.toml"):
            yield from ((f"{file.name} {package}", text) for text in strings(tomllib.loads(file.read_text("utf-8"))))
    for file in (ROOT / "sync_server" / "mail" / "templates").glob(f"*.{language}.*"):
        yield file.name, re.sub(r"<[^>]*>|{[{%].*?[%}]}", "X", file.read_text("utf-8"))
    yield from (("tickets", text) for text in strings([astuple(WORDS[language]), astuple(PAGE_WORDS[language])]))


def strings(value: Any) -> Iterator[str]:
    """The texts in a structure."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for each in value.values() for text in strings(each))
    elif isinstance(value, list | tuple):
        yield from (text for each in value for text in strings(each))


def test_french_spaces_do_not_break() -> None:
    wrong = [found for found in texts("fr") if re.search(r" [;:!?»]|« ", found[1])]
    assert wrong == [], "before ; : ! ? » and after « stands a space that does not break"


@pytest.mark.parametrize("language", ["fr", "af"])
def test_three_dots_follow_their_word(language: str) -> None:
    wrong = [found for found in texts(language) if re.search(r"[ \u00a0]…$", found[1])]
    assert wrong == [], "a space before them says that words were left out: so it is in German"


@pytest.mark.parametrize("language", ["fr", "af"])
def test_apostrophes_are_those_of_print(language: str) -> None:
    wrong = [found for found in texts(language) if re.search(r"\w'\w|(?<!\w)'n\b", found[1])]
    assert wrong == []


@pytest.mark.parametrize("language", ["fr", "af"])
def test_enough_is_looked_at(language: str) -> None:
    assert sum(1 for _ in texts(language)) > 900
