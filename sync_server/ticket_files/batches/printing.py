"""Writes a PDF of many tickets: a page at a time from the database, a piece at a time back into it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sync_server.plumbing.database import Database
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.jobs import MORE
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.ticket_files import faces
from sync_server.ticket_files.batches import queue
from sync_server.ticket_files.design import design_of
from sync_server.ticket_files.face import TicketFace
from sync_server.ticket_files.faces import Setting
from sync_server.ticket_files.models import TicketBatchPartRow, TicketBatchRow
from sync_server.tickets import queries as tickets
from sync_server.tickets.queries import TicketFilter

READ: Final = 100
"""Tickets that are read at once."""
PIECE_BYTES: Final = 1024 * 1024


class Superseded(Exception):
    """Another worker has taken over, or nobody wants it any more."""


@dataclass(frozen=True, slots=True)
class Batches:
    """What a worker needs to write PDFs."""

    sealer: Sealer
    stop: threading.Event

    def run(self, database: Database, context: ActionContext) -> object:
        """Write the next PDF to its end; MORE, because another may wait."""
        row = queue.claim(database, context)
        if row is None:
            return None
        writer = BatchWriter(database, self.sealer, row, self.stop)
        try:
            writer.run()
        except Superseded:
            pass
        except OSError:  # the libraries that draw are missing
            writer.fail("cannot_draw")
        return MORE


class BatchWriter:
    """One PDF, claimed by this worker: Cairo writes into it as into a file."""

    def __init__(self, database: Database, sealer: Sealer, row: TicketBatchRow, stop: threading.Event) -> None:
        self._database, self._sealer, self._row, self._stop = database, sealer, row, stop
        self._key = EventKey(row.organisation_id, row.event_id)
        self._buffer = bytearray()
        self._pieces = self._pages = 0

    def run(self) -> None:
        """Write it; Superseded where it is to end, or the worker itself is."""
        from sync_server.ticket_files.pdf.document import Document
        from sync_server.ticket_files.pdf.page import Look

        with self._database.reading() as session:
            setting = Setting.read(session, self._key)
            design = design_of(session, self._key.organisation_id)
            look = Look.of(design.colour, design.logo)
        document = Document(self, setting.event.name, setting.organiser, self._database.clock())
        for page in self._read(setting):
            for face in page:
                document.add(face, look)
            self._pages += len(page)
            self._store()
        document.finish()
        self._store(last=True)
        LOG.info("tickets_written", batch=self._row.id, tickets=self._pages, bytes=self._row.bytes)

    def _read(self, setting: Setting) -> Iterator[list[TicketFace]]:
        after: str | None = None
        while True:
            with self._database.reading() as session:
                filters = TicketFilter(ticket_type=self._row.ticket_type)
                page = tickets.tickets(session, *self._key, filters, limit=READ, after=after)
                found = faces.faces_of(session, self._sealer, setting, faces.standing(page.items))
            yield found
            after = page.next
            if after is None:
                return

    def write(self, piece: bytes, /) -> None:
        """Take what Cairo has written."""
        self._buffer += piece

    def _store(self, *, last: bool = False) -> None:
        """Store the whole pieces that there are, and say how far it is."""
        if self._stop.is_set():
            raise Superseded
        with self._database.writing() as session:
            row = queue.claimed(session, self._row)
            if row is None:
                raise Superseded
            while len(self._buffer) >= PIECE_BYTES or (last and self._buffer):
                piece = bytes(self._buffer[:PIECE_BYTES])
                del self._buffer[:PIECE_BYTES]
                sealed = self._sealer.seal(piece, queue.purpose(row.id, self._pieces))
                ids = {"organisation_id": row.organisation_id, "batch_id": row.id}
                session.add(TicketBatchPartRow(**ids, number=self._pieces, body=sealed))
                self._pieces, row.bytes = self._pieces + 1, row.bytes + len(piece)
            row.written, row.seen_at = self._pages, self._database.clock()
            if last:
                queue.finish(session, row, "done", row.seen_at)
            self._row.bytes = row.bytes

    def fail(self, problem: str) -> None:
        """End it without a PDF."""
        with self._database.writing() as session:
            row = queue.claimed(session, self._row)
            if row is not None:
                queue.finish(session, row, "failed", self._database.clock(), problem)
