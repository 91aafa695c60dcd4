"""Keyboard-layout probe: what the wedge scanner typed becomes what was printed."""

from __future__ import annotations

import re

from shared.layout_tables import KEYS, LAYOUTS, Layout

MARK = "MAY"
"""Every code begins with these letters and the digit of its version: the keys by which layouts can be told apart."""
LONGEST = 1024
"""Characters of a text that are looked at; the longest code of this version has fewer."""

# What scanners and terminals put around a code: control characters, blanks, a byte-order mark.
_AROUND = "".join(map(chr, range(33))) + "\x7f\xa0\ufeff"
# Symbology identifier (ISO 15424) and ECI designator as they are sent ...
_PREFIX = re.compile(r"(?:\][A-Za-z][0-9A-Za-z])?(?:\\[0-9]{6})?")
# ... and as a foreign layout types them: the bracket or backslash became a letter, some other sign, or nothing at all.
_TYPED_PREFIX = re.compile(r"(?:[^0-9]{0,2}[A-Z][A-Z0-9])?(?:[^0-9]{0,2}[0-9]{6})?(?=MAY[0-9])")
_PROBE = 16
_SIGNED = re.compile(r"MAY(?:1[A-Z2-7]*|[02-9][A-Z0-9]*)")


def normalise(text: str) -> str:
    """What was printed, as far as can be told; any other text comes back as it is, cut after LONGEST + 1."""
    typed = text[: LONGEST + 1].strip(_AROUND)
    bare = _without_prefix(typed)
    # Where a layout leaves the mark alone it leaves all letters and digits alone.
    if bare.isascii() and bare.isalnum() and bare[:4].upper().startswith(MARK):
        return bare.upper()
    printed = {undone for layout in LAYOUTS if (undone := _undo(typed, _TABLES[layout.name]))}
    # Two layouts that make different codes of it: better unreadable than guessed.
    return printed.pop() if len(printed) == 1 else typed


def _without_prefix(typed: str) -> str:
    return typed[match.end() :] if typed[:1] in {"]", "\\"} and (match := _PREFIX.match(typed)) else typed


class _Table(dict[int, str]):
    """Typed character to key; what no key of this layout types becomes NUL, which no code contains."""

    def __missing__(self, typed: int) -> str:
        return "\0"


def _table(layout: Layout) -> _Table:
    """Both shift states, then the other case of each: Caps Lock may have been on. What two keys type is left out."""
    pairs = [*zip(layout.plain, KEYS, strict=True), *zip(layout.shifted, KEYS, strict=True)]
    exact = _unambiguous(pairs)
    swapped = _unambiguous([(typed.swapcase(), key) for typed, key in pairs if typed not in _clashing(pairs)])
    return _Table({ord(typed): key for typed, key in {**swapped, **exact}.items()})


def _unambiguous(pairs: list[tuple[str, str]]) -> dict[str, str]:
    clashing = _clashing(pairs)
    return {typed: key for typed, key in pairs if typed not in clashing and len(typed) == 1}


def _clashing(pairs: list[tuple[str, str]]) -> set[str]:
    keys: dict[str, str] = {}
    return {typed for typed, key in pairs if keys.setdefault(typed, key) != key}


_TABLES = {layout.name: _table(layout) for layout in LAYOUTS}


def _undo(typed: str, table: _Table) -> str | None:
    """The code that somebody scanned with this layout in force, or None where it cannot have been this layout."""
    probe = "".join(table.get(ord(character), character) for character in typed[:_PROBE])
    prefix = _TYPED_PREFIX.match(probe)
    if prefix is None:
        return None
    printed = typed[prefix.end() :].translate(table)
    return printed if _SIGNED.fullmatch(printed) else None
