"""Keyboard-layout probe: what the wedge scanner typed becomes what was printed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from shared.layout_tables import KEYS, LAYOUTS, Layout

MARK = "MAY"
"""Every code of the house begins with these letters, by whose keys layouts can be told apart. Tickets go on with the
digit of their version; other codes that a scanner may type go on with a letter."""
LONGEST = 1024
"""Characters of a text that are looked at; the longest code of this version has fewer."""

# What scanners and terminals put around a code: control characters, blanks, a byte-order mark.
_AROUND = "".join(map(chr, range(33))) + "\x7f\xa0\ufeff"
# Symbology identifier (ISO 15424) and ECI designator as they are sent ...
_PREFIX = re.compile(r"(?:\][A-Za-z][0-9A-Za-z])?(?:\\[0-9]{6})?")
# ... and as a foreign layout types them: the bracket or backslash became a letter, some other sign, or nothing at all.
_TYPED_PREFIX = re.compile(r"(?:(?!MAY[0-9A-Z])[^0-9]{0,2}[A-Z][A-Z0-9])?(?:[^0-9]{0,2}[0-9]{6})?(?=MAY[0-9A-Z])")
_PROBE = 16
_THIS_VERSION = f"{MARK}1"
_CODE = re.compile(r"MAY(?:1[A-Z2-7]*|[02-9A-Z][A-Z0-9]*)")


def normalise(text: str) -> str:
    """What was printed, as far as can be told; any other text comes back as it is, cut after LONGEST + 1."""
    typed = text[: LONGEST + 1].strip(_AROUND)
    bare = _without_prefix(typed)
    # Where a layout leaves the mark alone it leaves all letters and digits alone.
    if bare.isascii() and bare.isalnum() and bare[:4].upper().startswith(MARK):
        return bare.upper()
    return _only({undone for table in _TABLES if (undone := _undo(typed, table))}) or typed


def _only(printed: set[str]) -> str | None:
    """The one code that layouts make of a text, those of this version first; where there are two, better none."""
    likely = {text for text in printed if text.startswith(_THIS_VERSION)} or printed
    return min(likely) if len(likely) == 1 else None


def _without_prefix(typed: str) -> str:
    return typed[match.end() :] if typed[:1] in {"]", "\\"} and (match := _PREFIX.match(typed)) else typed


class _Table(dict[int, str]):
    """Typed character to key; what no key of this layout types becomes NUL, which no code contains."""

    def __missing__(self, typed: int) -> str:
        return "\0"


def _tables(layouts: Iterable[Layout]) -> tuple[_Table, ...]:
    """Two for each layout: digits come all plain or, under a shift lock, all shifted. Equal ones stand once."""
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
    """What is typed as it stands, then in the other case, because Caps Lock may have been on."""
    exact = _unambiguous(pairs)
    swapped = _unambiguous([(typed.swapcase(), key) for typed, key in exact.items()])
    return _Table({ord(typed): key for typed, key in {**swapped, **exact}.items()})


def _unambiguous(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """What two keys type is left out, and what another case makes two characters of."""
    keys: dict[str, str] = {}
    clashing = {typed for typed, key in pairs if keys.setdefault(typed, key) != key}
    return {typed: key for typed, key in pairs if typed not in clashing and len(typed) == 1}


_TABLES = _tables(LAYOUTS)


def _undo(typed: str, table: _Table) -> str | None:
    """The code that somebody scanned with this layout in force, or None where it cannot have been this layout."""
    probe = "".join(table.get(ord(character), character) for character in typed[:_PROBE])
    prefix = _TYPED_PREFIX.match(probe)
    if prefix is None:
        return None
    printed = typed[prefix.end() :].translate(table)
    return printed if _CODE.fullmatch(printed) else None
