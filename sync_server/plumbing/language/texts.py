"""The words of pages: texts by key, as `shared.words.wording` reads them, in which markup stays markup."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from shared.words.wording import DEFAULT, LANGUAGES, Text, Wording, language_of, read_texts

__all__ = ["DEFAULT", "LANGUAGES", "Text", "Translator", "language_of", "translator"]


@dataclass(frozen=True, slots=True)
class Translator(Wording):
    """The texts of a package in one language: call it with a key, and with the values that stand in braces."""

    def __call__(self, key: str, /, **values: Any) -> str:
        """The text with these values, escaped where one of them is markup; LookupError for an unknown key."""
        text = self.form(key, values)
        if any(isinstance(value, Markup) for value in values.values()):
            return escape(text).format(**values)
        return text.format(**values) if values else text

    def for_script(self, prefix: str) -> dict[str, Text]:
        """The texts that a script fills in by itself: those whose keys begin so, by what follows."""
        return {key.removeprefix(prefix): text for key, text in self.texts.items() if key.startswith(prefix)}


@cache
def translator(folder: Path, language: str) -> Translator:
    """The texts of this folder in this language; read once."""
    return Translator(language, read_texts(folder, language))
