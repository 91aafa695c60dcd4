"""A layout of a badge or wristband: its size and areas, as TOML that organisers can change."""

from __future__ import annotations

import base64
import binascii
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Final

from shared.errors import InvalidRequest

LONGEST: Final = 24_000
"""Characters of a layout with its logo, which travels to every gate."""
MOST_AREAS: Final = 24
SHORTEST_MM: Final = 10.0
LONGEST_MM: Final = 420.0
SMALLEST_CODE_MM: Final = 14.0
"""Side of a QR code with its quiet zone. A ticket's code has 53 modules with it: two dots of 203 to the inch each."""
WORDS: Final = ("name", "type", "zone", "row", "seat", "number", "event", "venue", "date", "code")
"""What may stand in braces; `code` is the code of the ticket itself."""
_BETWEEN: Final = " · "
_IN_BRACES: Final = re.compile(r"\{([^{}]*)\}")


class AreaKind(StrEnum):
    """What an area shows."""

    TEXT = "text"
    QR = "qr"
    LOGO = "logo"
    LINE = "line"
    """A dashed line to fold or cut along."""
    BLOCK = "block"
    """A black rectangle, for white text on it."""


class Align(StrEnum):
    """Where a text stands in its area, whichever way it is written."""

    LEFT = "left"
    CENTRE = "centre"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of the page, in millimetres from its upper left corner, and what stands in it."""

    kind: AreaKind
    x: float
    y: float
    width: float
    height: float
    text: str = ""
    size_mm: float = 0
    """The largest height of a line; a text that does not fit is made smaller. 0: as large as the area."""
    bold: bool = False
    align: Align = Align.LEFT
    white: bool = False
    turned: bool = False
    """Upside down, for the back of a badge that is folded."""

    def filled(self, words: Mapping[str, str]) -> str:
        """The text with these words. Of parts between ` · `, those with empty words only are left out."""
        if self.kind is AreaKind.QR:
            return _filled(self.text, words)
        return _BETWEEN.join(part for each in self.text.split(_BETWEEN) if (part := _filled(each, words)))


@dataclass(frozen=True, slots=True)
class Layout:
    """A badge or wristband."""

    title: str
    width_mm: float
    height_mm: float
    areas: tuple[Area, ...]
    logo: bytes = b""
    """A PNG."""

    @property
    def names_words(self) -> frozenset[str]:
        """The words that it shows."""
        return frozenset(name for area in self.areas for name in _IN_BRACES.findall(area.text))


def _filled(part: str, words: Mapping[str, str]) -> str:
    named = _IN_BRACES.findall(part)
    if named and not any(words.get(name) for name in named):
        return ""
    return _IN_BRACES.sub(lambda found: words.get(found.group(1), ""), part).strip()


def read_layout(text: str) -> Layout:
    """The layout that this TOML describes. Raises InvalidRequest with what is wrong and where."""
    if len(text) > LONGEST:
        raise _wrong(f"It is longer than {LONGEST} characters.")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as why:
        raise _wrong(f"It is not TOML: {why}.") from why
    _check_names("the layout", table, {"title", "width_mm", "height_mm", "area", "logo"})
    width, height = (_millimetres(table, name, SHORTEST_MM, LONGEST_MM) for name in ("width_mm", "height_mm"))
    listed = table.get("area", [])
    if not isinstance(listed, list) or not 1 <= len(listed) <= MOST_AREAS:
        raise _wrong(f"It needs 1 to {MOST_AREAS} areas, each beginning with [[area]].")
    areas = tuple(_read_area(number, each) for number, each in enumerate(listed, 1))
    for number, area in enumerate(areas, 1):
        if area.x + area.width > width + 0.01 or area.y + area.height > height + 0.01:
            raise _wrong(f"Area {number} does not lie on the page of {width:g} by {height:g} mm.")
    return Layout(_text(table, "title", "Badge"), width, height, areas, _logo(table))


def _read_area(number: int, table: object) -> Area:
    where = f"Area {number}"
    if not isinstance(table, dict):
        raise _wrong(f"{where} is not a table: begin it with [[area]].")
    _check_names(where, table, {field.name for field in fields(Area)})
    try:
        kind, align = AreaKind(table.get("kind", "text")), Align(table.get("align", "left"))
    except ValueError as why:
        raise _wrong(f"{where}: {why}. Kinds are {_either(AreaKind)}; align is {_either(Align)}.") from why
    x, y = (_millimetres(table, name, 0, LONGEST_MM, where) for name in ("x", "y"))
    least = 0.0 if kind is AreaKind.LINE else 1.0
    width, height = (_millimetres(table, name, least, LONGEST_MM, where) for name in ("width", "height"))
    area = Area(
        kind,
        x,
        y,
        width,
        height,
        _text(table, "text", "", where),
        _millimetres({"size_mm": 0, **table}, "size_mm", 0, 200, where),
        _flag(table, "bold", where),
        align,
        _flag(table, "white", where),
        _flag(table, "turned", where),
    )
    _check_area(where, area)
    return area


def _check_area(where: str, area: Area) -> None:
    if area.kind in {AreaKind.TEXT, AreaKind.QR} and not area.text.strip():
        raise _wrong(f'{where} shows nothing: give it a text, such as text = "{{name}}".')
    for name in _IN_BRACES.findall(area.text):
        if name not in WORDS:
            raise _wrong(f"{where}: {{{name}}} is not known. Known are {', '.join(WORDS)}.")
    if area.kind is AreaKind.QR and min(area.width, area.height) < SMALLEST_CODE_MM:
        raise _wrong(f"{where}: a QR code needs {SMALLEST_CODE_MM:g} mm a side to be read.")
    if area.kind is AreaKind.LINE and area.width and area.height:
        raise _wrong(f"{where}: a line has a width or a height, and the other is 0.")


def _check_names(where: str, table: Mapping[str, Any], known: set[str]) -> None:
    unknown = sorted(table.keys() - known)
    if unknown:
        raise _wrong(f"{where}: {', '.join(unknown)} is not known. Known are {', '.join(sorted(known))}.")


def _millimetres(table: Mapping[str, Any], name: str, least: float, most: float, where: str = "The layout") -> float:
    value = table.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise _wrong(f"{where}: {name} must be {least:g} to {most:g} (millimetres).")
    return float(value)


def _text(table: Mapping[str, Any], name: str, default: str, where: str = "The layout") -> str:
    value = table.get(name, default)
    if not isinstance(value, str) or len(value) > 300:
        raise _wrong(f"{where}: {name} must be a text of at most 300 characters.")
    return value


def _flag(table: Mapping[str, Any], name: str, where: str) -> bool:
    value = table.get(name, False)
    if not isinstance(value, bool):
        raise _wrong(f"{where}: {name} must be true or false.")
    return value


def _logo(table: Mapping[str, Any]) -> bytes:
    try:
        return base64.b64decode(table.get("logo", ""), validate=True)
    except (binascii.Error, TypeError, ValueError) as why:
        raise _wrong("The logo must be a PNG in base64.") from why


def _either(kinds: type[StrEnum]) -> str:
    return ", ".join(kinds)


def _wrong(what: str) -> InvalidRequest:
    return InvalidRequest(f"This layout cannot be used. {what}", code="layout_invalid")
