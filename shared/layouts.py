"""Undoes foreign keyboard layouts: turns what a wedge scanner typed into what was printed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from shared.layout_tables import KEYS, LAYOUTS, Layout

MARK = "MAY"
"""All our codes begin with these letters, whose keys distinguish layouts. In tickets the digit of the version follows;
in other codes a letter."""
LONGEST = 1024
"""Characters of a text that are examined; the longest code of this version has fewer."""

# What scanners and terminals put around a code: control characters, blanks, a byte-order mark.
_AROUND = "".join(map(chr, range(33))) + "\x7f\xa0\ufeff"
# Symbology identifier (ISO 15424) and ECI designator as they are sent ...
_PREFIX = re.compile(r"(?:\][A-Za-z][0-9A-Za-z])?(?:\\[0-9]{6})?")
# ... and as a foreign layout types them: the bracket or backslash becomes another character, or nothing.
_TYPED_PREFIX = re.compile(r"(?:(?!MAY[0-9A-Z])[^0-9]{0,2}[A-Z][A-Z0-9])?(?:[^0-9]{0,2}[0-9]{6})?(?=MAY[0-9A-Z])")
_PROBE = 16
_THIS_VERSION = f"{MARK}1"
_CODE = re.compile(r"MAY(?:1[A-Z2-7]*|[02-9A-Z][A-Z0-9]*)")


def normalise(text: str) -> str:
    """What was printed, if it can be determined; otherwise the text itself, cut after LONGEST + 1."""
    typed = text[: LONGEST + 1].strip(_AROUND)
    bare = _without_prefix(typed)
    # A layout that does not change the mark does not change any letter or digit.
    if bare.isascii() and bare.isalnum() and bare[:4].upper().startswith(MARK):
        return bare.upper()
    return _only({undone for table in _TABLES if (undone := _undo(typed, table))}) or typed


def _only(printed: set[str]) -> str | None:
    """The only code that any layout gives, those of this version first; None if it is ambiguous."""
    likely = {text for text in printed if text.startswith(_THIS_VERSION)} or printed
    return min(likely) if len(likely) == 1 else None


def _without_prefix(typed: str) -> str:
    return typed[match.end() :] if typed[:1] in {"]", "\\"} and (match := _PREFIX.match(typed)) else typed


class _Table(dict[int, str]):
    """Maps typed characters to keys; others become NUL, which no code contains."""

    def __missing__(self, typed: int) -> str:
        return "\0"


def _tables(layouts: Iterable[Layout]) -> tuple[_Table, ...]:
    """Two tables per layout: digits plain or, with shift lock, shifted. Duplicates are removed."""
    tables: list[_Table] = []
    for layout in layouts:
        for row in (layout.plain, layout.shifted):
            table = _table([*_keyed(row)[:10], *_keyed(layout.plain)[10:], *_keyed(layout.shifted)[10:]])
            if table not in tables:
                tables.append(table)
    return tuple(tables)


def _keyed(row: str) -> list[tuple[str, str]]:
    return list(zip(row, KEYS, strict=True))


def _table(pairs: list[tuple[str, str]]) -> _Table:
    """The typed text, then with upper and lower case swapped, because Caps Lock may have been on."""
    exact = _unambiguous(pairs)
    swapped = _unambiguous([(typed.swapcase(), key) for typed, key in exact.items()])
    return _Table({ord(typed): key for typed, key in {**swapped, **exact}.items()})


def _unambiguous(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """The table without characters that two keys type or that become two characters in the other case."""
    keys: dict[str, str] = {}
    clashing = {typed for typed, key in pairs if keys.setdefault(typed, key) != key}
    return {typed: key for typed, key in pairs if typed not in clashing and len(typed) == 1}


_TABLES = _tables(LAYOUTS)


def _undo(typed: str, table: _Table) -> str | None:
    """The code that was scanned with this layout; None if it cannot have been this layout."""
    probe = "".join(table.get(ord(character), character) for character in typed[:_PROBE])
    prefix = _TYPED_PREFIX.match(probe)
    if prefix is None:
        return None
    printed = typed[prefix.end() :].translate(table)
    return printed if _CODE.fullmatch(printed) else None
