"""Draws the list by name on pages of A4: a box to tick, the name, the place, and what is wrong with a ticket."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Final

import cairocffi

from shared.clock import Millis
from shared.drawing.pen import BOLD, Pen, Style
from sync_server.appearance.colours import Colour
from sync_server.plumbing.language.texts import Translator
from sync_server.ticket_files.pdf.page import HEIGHT, WIDTH

_MARGIN: Final = 36.0
_INNER: Final = WIDTH - 2 * _MARGIN
_TOP: Final = 96.0
_LINE: Final = 17.0
A_PAGE: Final = int((HEIGHT - _TOP - 48.0) // _LINE)
"""Guests on one page."""
_INK, _QUIET, _HAIR, _BAD = Colour(17, 24, 39), Colour(75, 85, 99), Colour(209, 213, 219), Colour(173, 29, 42)
_NAME: Final = Style(8, _INK, BOLD, lines=1)
_TEXT: Final = Style(7, _INK, lines=1)
_SMALL: Final = Style(6.5, _QUIET, lines=1)
_COLUMNS: Final = ((18.0, 150.0), (173.0, 130.0), (308.0, 52.0))
_CODE: Final = (363.0, 102.0)
_STATUS: Final = (468.0, _INNER - 468.0)


@dataclass(frozen=True, slots=True)
class Guest:
    """A line of the list."""

    name: str
    seat: str
    zone: str
    kind: str
    code: str
    status: str
    bad: bool = False  # the ticket does not admit as it stands
    row: str = ""
    number: str = ""

    @property
    def surname(self) -> str:
        """The last word of the name."""
        return self.name.rpartition(" ")[2]


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands at the head and the foot of each page."""

    event: str
    when: str
    printed: str
    words: Translator


def pdf_of(guests: Sequence[Guest], heading: Heading, now: Millis, by: str) -> bytes:
    """The list as a PDF; of nobody, one page that says so."""
    target = io.BytesIO()
    surface = cairocffi.PDFSurface(target, WIDTH, HEIGHT)
    surface.set_metadata(cairocffi.PDF_METADATA_TITLE, heading.event)
    surface.set_metadata(cairocffi.PDF_METADATA_CREATOR, "Gatehouse")
    at = datetime.fromtimestamp(now // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    surface.set_metadata(cairocffi.PDF_METADATA_CREATE_DATE, at)
    drawing = cairocffi.Context(surface)
    pages = list(_pages(guests)) or [[]]
    for number, some in enumerate(pages, start=1):
        pen = Pen(drawing)
        _head(pen, heading, some, by)
        for line, guest in enumerate(some):
            _guest(pen, drawing, guest, _TOP + line * _LINE)
        _foot(pen, heading, number, len(pages))
        drawing.show_page()
    surface.finish()
    return target.getvalue()


def _pages(guests: Iterable[Guest]) -> Iterable[list[Guest]]:
    rest = iter(guests)
    while some := list(islice(rest, A_PAGE)):
        yield some


def _head(pen: Pen, heading: Heading, some: Sequence[Guest], by: str) -> None:
    pen.text(heading.event, _MARGIN, 32, _INNER - 150, Style(12, _INK, BOLD, lines=1))
    pen.text(heading.when, _MARGIN, 53, _INNER, Style(7.5, _QUIET, lines=1))
    ends = Style(12, _INK, BOLD, lines=1, at_right=True)
    pen.text(_from_to(some, by), WIDTH - _MARGIN - 145, 32, 145, ends)
    t, y = heading.words, _TOP - 20
    titles = (t("names.name"), t("names.place"), t("names.type"), t("names.ticket"), t("names.status"))
    for (x, width), title in zip((*_COLUMNS, _CODE, _STATUS), titles, strict=True):
        pen.text(title, _MARGIN + x, y, width, _SMALL)
    pen.line(_MARGIN, _TOP - 5, _INNER, _INK)
    if not some:
        pen.text(t("names.nobody"), _MARGIN, _TOP + 8, _INNER, _TEXT)


def _from_to(some: Sequence[Guest], by: str) -> str:
    """Whom this page begins and ends with, to find it in a pile."""
    if not some or by != "name":
        return ""
    first, last = (guest.surname[:4] or "–" for guest in (some[0], some[-1]))
    return first if first == last else f"{first} – {last}"


def _guest(pen: Pen, drawing: cairocffi.Context, guest: Guest, y: float) -> None:
    _box(drawing, _MARGIN + 1, y + 2.5)
    place = " · ".join(part for part in (guest.zone, guest.seat) if part)
    texts = (guest.name or "–", _NAME), (place, _TEXT), (guest.kind, _SMALL)
    for (x, width), (text, style) in zip(_COLUMNS, texts, strict=True):
        pen.text(text, _MARGIN + x, y + (0 if style is _NAME else 1.5), width, style)
    pen.text(guest.code, _MARGIN + _CODE[0], y + 2.5, _CODE[1], _SMALL)
    status = Style(6.5, _BAD, BOLD, lines=1) if guest.bad else _SMALL
    pen.text(guest.status, _MARGIN + _STATUS[0], y + 2.5, _STATUS[1], status)
    pen.line(_MARGIN, y + _LINE - 2.5, _INNER, _HAIR)


def _box(drawing: cairocffi.Context, x: float, y: float) -> None:
    drawing.set_source_rgb(*_INK.parts)
    drawing.set_line_width(0.9)
    drawing.rectangle(x, y, 10, 10)
    drawing.stroke()


def _foot(pen: Pen, heading: Heading, number: int, pages: int) -> None:
    y = HEIGHT - 36
    pen.text(heading.printed, _MARGIN, y, _INNER - 110, _SMALL)
    right = Style(7.5, _INK, BOLD, lines=1, at_right=True)
    pen.text(heading.words("names.page_of", page=number, pages=pages), WIDTH - _MARGIN - 105, y, 105, right)
