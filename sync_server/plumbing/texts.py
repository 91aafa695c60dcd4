"""The words of pages as data: one file for each language in the folder `texts` of a package.

A text stands under a key such as `order.pay`, with values in braces: `Pay {sum}`. One that depends on a number is a
table of its plural forms, as CLDR names them, chosen by the value `n`: `{one = "{n} ticket", other = "{n} tickets"}`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from babel import Locale
from markupsafe import Markup, escape

LANGUAGES: Final[Mapping[str, str]] = {"en": "English", "de": "Deutsch", "fr": "Français", "af": "Afrikaans"}
"""The languages of pages, each by its own name."""
DEFAULT: Final = "en"
OTHER: Final = "other"
_FORMS: Final = frozenset({"zero", "one", "two", "few", "many", OTHER})

Text = str | Mapping[str, str]
"""A text, or its plural forms."""


@dataclass(frozen=True, slots=True)
class Translator:
    """The texts of a package in one language: call it with a key, and with the values that stand in braces."""

    language: str
    texts: Mapping[str, Text]

    def __call__(self, key: str, /, **values: Any) -> str:
        """The text with these values, escaped where one of them is markup; LookupError for an unknown key."""
        text = self.texts[key]
        if not isinstance(text, str):
            text = text.get(str(_plural(self.language)(values["n"])), text[OTHER])
        if any(isinstance(value, Markup) for value in values.values()):
            return escape(text).format(**values)
        return text.format(**values) if values else text

    def __contains__(self, key: str) -> bool:
        """Whether there is such a text: for words that depend on a code that may be new."""
        return key in self.texts


@cache
def _plural(language: str) -> Any:
    return Locale.parse(language).plural_form


@cache
def translator(folder: Path, language: str) -> Translator:
    """The texts of this folder in this language; read once."""
    content = tomllib.loads((folder / f"{language}.toml").read_text(encoding="utf-8"))
    return Translator(language, dict(_flattened(content, "")))


def _flattened(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Text]]:
    for name, value in table.items():
        if isinstance(value, str) or value.keys() <= _FORMS:
            yield prefix + name, value
        else:
            yield from _flattened(value, f"{prefix}{name}.")


def language_of(*wanted: str) -> str:
    """The first of these languages that pages exist in: of `fr-CA`, that is French."""
    short = (each[:2].lower() for each in wanted)
    return next((each for each in short if each in LANGUAGES), DEFAULT)
