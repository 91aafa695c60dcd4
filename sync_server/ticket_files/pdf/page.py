"""Lays one ticket out on a page of A4: what a guest looks for on the way is large, and the code has room around it."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Final

import cairocffi

from shared.drawing.pen import BOLD, Pen, Style
from sync_server.appearance.colours import BLACK, WHITE, Colour, readable, text_on
from sync_server.ticket_files.face import Labelled, TicketFace
from sync_server.tickets.keys import codes

WIDTH: Final = 595.28
HEIGHT: Final = 841.89
_MARGIN: Final = 45.0
_INNER: Final = WIDTH - 2 * _MARGIN
_BAND: Final = 74.0
_CODE: Final = 215.0  # with its quiet zone: 76 mm
_GAP: Final = 20.0
_COLUMNS: Final = 3  # of details
_SHORT: Final = 5  # letters of a row or seat
_INK: Final = Colour(17, 24, 39)
_QUIET: Final = Colour(75, 85, 99)
_HAIR: Final = Colour(209, 213, 219)
_WARNING: Final = Colour(254, 243, 199)


@dataclass(frozen=True, slots=True)
class Look:
    """The organiser's colour and logo."""

    colour: Colour
    logo: cairocffi.ImageSurface | None = None

    @classmethod
    def of(cls, colour: str, logo: bytes | None) -> Look:
        """By a colour such as #0f766e, and a logo as PNG."""
        picture = None if logo is None else cairocffi.ImageSurface.create_from_png(io.BytesIO(logo))
        return cls(Colour.of(colour), picture)


def draw(pen: Pen, face: TicketFace, look: Look) -> None:
    """Draw a ticket."""
    _band(pen, face, look)
    accent = readable(look.colour)
    y = _event(pen, face, accent, _BAND + 30)
    if face.notice:
        y = _notice(pen, face, y)
    y = _seat_and_code(pen, face, accent, y + 14)
    y = _details(pen, face, y + 14)
    _footing(pen, face, y + 10)


def _band(pen: Pen, face: TicketFace, look: Look) -> None:
    pen.area(0, 0, WIDTH, _BAND, look.colour)
    ink, x = text_on(look.colour), _MARGIN
    if look.logo is not None:
        height = _BAND - 28
        width = look.logo.get_width() * height / look.logo.get_height()
        pen.area(x - 6, 8, width + 12, _BAND - 16, WHITE)  # whatever its colours are, it was made for paper
        pen.picture(look.logo, x, 14, height)
        x += width + 22
    room = WIDTH - _MARGIN - x - 110
    style = pen.fitted(face.organiser, room, 44, Style(17, ink, BOLD), (17, 14, 12))
    pen.text(face.organiser, x, (_BAND - style.size * 1.36 * _lines(pen, face.organiser, room, style)) / 2, room, style)
    title = Style(13, ink, at_right=True, lines=1)
    pen.text(face.title, WIDTH - _MARGIN - 100, (_BAND - 18) / 2, 100, title)


def _lines(pen: Pen, text: str, room: float, style: Style) -> int:
    return 1 if pen.width_of(text, style) <= room else 2


def _event(pen: Pen, face: TicketFace, accent: Colour, y: float) -> float:
    name = pen.fitted(face.event, _INNER, 84, Style(30, _INK, BOLD), (30, 26, 22, 18, 15))
    y += pen.text(face.event, _MARGIN, y, _INNER, name) + 10
    y += pen.text(face.day, _MARGIN, y, _INNER, Style(17, accent, BOLD, lines=2)) + 1
    y += pen.text(face.time, _MARGIN, y, _INNER, Style(14, _INK, lines=2)) + 9
    y += pen.text(face.place, _MARGIN, y, _INNER, Style(14, _INK, BOLD, lines=2)) + 1
    if face.address:
        y += pen.text(face.address, _MARGIN, y, _INNER, Style(11.5, _QUIET, lines=2))
    return y


def _notice(pen: Pen, face: TicketFace, y: float) -> float:
    style = Style(13, _INK, BOLD, lines=2)
    pen.area(_MARGIN, y + 12, _INNER, 46, _WARNING)
    pen.text(face.notice, _MARGIN + 12, y + 18, _INNER - 24, style)
    return y + 58


def _seat_and_code(pen: Pen, face: TicketFace, accent: Colour, y: float) -> float:
    pen.line(_MARGIN, y, _INNER, _HAIR)
    y += 16
    column, bottom = _INNER - _CODE - _GAP, y + _CODE
    _seat(pen, face.seat, accent, y, column)
    pen.text(face.confirmation_label, _MARGIN, bottom - 44, column, Style(11, accent, BOLD, lines=1))
    pen.text(face.confirmation_code, _MARGIN, bottom - 29, column, Style(18, _INK, BOLD, lines=1))
    _code(pen, face.code, WIDTH - _MARGIN - _CODE, y)
    return bottom + 8 + pen.text(face.show, _MARGIN, bottom + 8, _INNER, Style(11.5, _QUIET, lines=2))


def _seat(pen: Pen, words: tuple[Labelled, ...], accent: Colour, y: float, column: float) -> None:
    """The words that lead to the seat, as large as they fit; short ones stand beside each other."""
    rows = _rows(words)
    room = (_CODE - 58) / max(1, len(rows)) - 19
    for row in rows:
        width = (column - 12 * (len(row) - 1)) / len(row)
        below = y
        for place, (label, value) in enumerate(row):
            x = _MARGIN + place * (width + 12)
            top = y + pen.text(label, x, y, width, Style(12, accent, BOLD, lines=1))
            style = pen.fitted(value, width, room, Style(40, _INK, BOLD), (40, 34, 28, 24, 20, 16, 13))
            below = max(below, top + pen.text(value, x, top, width, style))
        y = below + 3


def _rows(words: tuple[Labelled, ...]) -> list[list[Labelled]]:
    rows: list[list[Labelled]] = []
    for word in words:
        beside = rows and len(rows[-1]) == 1 and len(rows[-1][0].value) <= _SHORT and len(word.value) <= _SHORT
        if beside:
            rows[-1].append(word)
        else:
            rows.append([word])
    return rows


def _code(pen: Pen, text: str, x: float, y: float) -> None:
    """Black on white whatever the organiser's colours are: gates read it, and screens are dim."""
    matrix = tuple(codes.qr_code(text).matrix)
    pen.area(x, y, _CODE, _CODE, WHITE)
    quiet = _CODE * codes.QUIET_ZONE / (len(matrix) + 2 * codes.QUIET_ZONE)
    pen.modules(matrix, x + quiet, y + quiet, _CODE - 2 * quiet, BLACK)


def _details(pen: Pen, face: TicketFace, y: float) -> float:
    pen.line(_MARGIN, y, _INNER, _HAIR)
    y += 10
    column = (_INNER - (_COLUMNS - 1) * _GAP) / _COLUMNS
    for index in range(0, len(face.details), _COLUMNS):
        row = face.details[index : index + _COLUMNS]
        y += max(_detail(pen, each, _MARGIN + place * (column + _GAP), y, column) for place, each in enumerate(row))
    return y


def _detail(pen: Pen, shown: Labelled, x: float, y: float, width: float) -> float:
    label = pen.text(shown.label, x, y, width, Style(9.5, _QUIET, lines=1))
    return label + pen.text(shown.value, x, y + label, width, Style(12.5, _INK, lines=2)) + 7


def _footing(pen: Pen, face: TicketFace, y: float) -> None:
    if not face.terms:
        return
    room = HEIGHT - _MARGIN - y
    pen.line(_MARGIN, y, _INNER, _HAIR)
    style = pen.fitted(face.terms, _INNER, room - 10, Style(9.5, _QUIET), (9.5, 8.5, 7.5))
    pen.text(face.terms, _MARGIN, y + 10, _INNER, style)
