"""Words as data, one file for each language in a folder `texts`; what is said once can be said again in another.

A text stands under a key such as `denied.zone_full`, with values in braces: `{zone} is full.` One that depends on a
number is a table of its plural forms, chosen by the value `n`: `{one = "{n} second ago", other = "{n} seconds ago"}`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar, cast

LANGUAGES: Final[Mapping[str, str]] = {"en": "English", "de": "Deutsch", "fr": "Français", "af": "Afrikaans"}
"""The languages of pages and screens, each by its own name."""
DEFAULT: Final = "en"
ONE, OTHER = "one", "other"

Text = str | Mapping[str, str]
"""A text, or its plural forms."""
Whatever = TypeVar("Whatever")


@dataclass(frozen=True, slots=True)
class Wording:
    """The texts of a folder in one language: call it with a key, and with the values that stand in braces."""

    language: str
    texts: Mapping[str, Text]

    def __call__(self, key: str, /, **values: Any) -> str:
        """The text with these values; LookupError for an unknown key."""
        text = self.form(key, values)
        return text.format(**values) if values else text

    def form(self, key: str, values: Mapping[str, Any]) -> str:
        """The text before it is filled in: of several forms the one for the number `n`."""
        text = self.texts[key]
        return text if isinstance(text, str) else text[_plural(self.language, values["n"])]

    def __contains__(self, key: str) -> bool:
        """Whether there is such a text: for words that depend on a code that may be new."""
        return key in self.texts


def _plural(language: str, n: float) -> str:
    """The form for a number in the languages that there are; French counts nothing as one."""
    single = abs(n) < 2 if language == "fr" else n == 1
    return ONE if single else OTHER


@cache
def read_texts(folder: Path, language: str) -> Mapping[str, Text]:
    """The texts of this folder in this language; read once."""
    file = folder / f"{language}.toml"
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as why:
        raise ValueError(f"{file}: {why}") from why
    return dict(_flattened(content, ""))


def _flattened(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Text]]:
    for name, value in table.items():
        if isinstance(value, str) or value.keys() <= {ONE, OTHER}:
            yield prefix + name, value
        else:
            yield from _flattened(value, f"{prefix}{name}.")


@cache
def wording(folder: Path, language: str) -> Wording:
    """The texts of this folder in this language."""
    return Wording(language, read_texts(folder, language))


def language_of(*wanted: str) -> str:
    """The first of these languages that there are texts in: of `fr-CA`, that is French."""
    short = (each[:2].lower() for each in wanted)
    return next((each for each in short if each in LANGUAGES), DEFAULT)


class Said(str):
    """A message: to everybody who does not ask for another language it is its English text."""

    folder: Path
    key: str
    values: Mapping[str, Any]

    def __new__(cls, folder: Path, key: str, values: Mapping[str, Any]) -> Said:
        """What this text says with these values, which may be messages themselves."""
        said = super().__new__(cls, wording(folder, DEFAULT)(key, **values))
        said.folder, said.key, said.values = folder, key, values
        return said

    def __getnewargs__(self) -> tuple[Path, str, Mapping[str, Any]]:  # type: ignore[override]  # for copies of it
        return self.folder, self.key, self.values

    def again(self, language: str) -> str:
        """The same in another language."""
        values = {name: in_language(value, language) for name, value in self.values.items()}
        return wording(self.folder, language)(self.key, **values)


class Joined(Said):
    """Several messages, one after the other."""

    def __new__(cls, separator: str, parts: tuple[str, ...]) -> Joined:
        """Those of the parts that are not empty."""
        joined = str.__new__(cls, separator.join(parts))
        joined.key, joined.values = separator, dict(enumerate(parts))  # type: ignore[arg-type]  # numbered, not named
        return joined

    def __getnewargs__(self) -> tuple[str, tuple[str, ...]]:  # type: ignore[override]  # for copies of it
        return self.key, tuple(self.values.values())

    def again(self, language: str) -> str:
        """Each part in another language."""
        return in_language(self.key, language).join(in_language(part, language) for part in self.values.values())


def joined(*parts: str, by: str = " ") -> str:
    """All parts that are not empty in a row, still to be said in any language."""
    return Joined(by, tuple(part for part in parts if part))


def in_language(value: Whatever, language: str) -> Whatever:
    """The value with all messages in it said in this language, in tuples and dataclasses too."""
    if isinstance(value, Said):
        return cast(Whatever, value.again(language))
    if isinstance(value, tuple):
        return cast(Whatever, tuple(in_language(each, language) for each in value))
    if is_dataclass(value) and not isinstance(value, type):
        changed = {each.name: in_language(getattr(value, each.name), language) for each in fields(value)}
        return cast(Whatever, replace(value, **changed))
    return value
