"""Writes PDFs with one ticket on each page."""

from __future__ import annotations

import io
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Protocol

import cairocffi

from shared.clock import Millis
from shared.drawing.pen import Pen
from sync_server.ticket_files.face import TicketFace
from sync_server.ticket_files.pdf.page import HEIGHT, WIDTH, Look, draw


class Target(Protocol):
    """What takes the bytes of a document, as they come."""

    def write(self, piece: bytes, /) -> object:
        """Take the next bytes."""


class Document:
    """A PDF that is written page by page: what is finished leaves memory, but for the letters that it used."""

    def __init__(self, target: Target, title: str, author: str, now: Millis) -> None:
        self._surface = cairocffi.PDFSurface(target, WIDTH, HEIGHT)
        at = datetime.fromtimestamp(now // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for item, value in (
            (cairocffi.PDF_METADATA_TITLE, title),
            (cairocffi.PDF_METADATA_AUTHOR, author),
            (cairocffi.PDF_METADATA_CREATOR, "Gatehouse"),
            (cairocffi.PDF_METADATA_CREATE_DATE, at),
        ):
            self._surface.set_metadata(item, value)
        self._context = cairocffi.Context(self._surface)

    def add(self, face: TicketFace, look: Look) -> None:
        """Add a page."""
        draw(Pen(self._context), face, look)
        self._context.show_page()

    def finish(self) -> None:
        """Write the rest."""
        self._surface.finish()


def document_of(
    faces: Iterable[TicketFace], colour: str, logo: bytes | None, *, title: str, author: str, now: Millis
) -> bytes:
    """A PDF of some tickets."""
    target, look = io.BytesIO(), Look.of(colour, logo)
    document = Document(target, title, author, now)
    for face in faces:
        document.add(face, look)
    document.finish()
    return target.getvalue()
