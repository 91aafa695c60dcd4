"""How fast tickets are signed, and written as PDF with their codes as vectors.

A ticket is read from the database, signed and drawn, as for the response to a guest. The yardsticks: Ed25519 signatures
alone, by the same library; a page with nothing but the code; of the memory of a batch, the size of its file.
"""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

import cairocffi

from scripts.benchmarking.meters.peak_memory import peak_mb
from scripts.benchmarking.result import Figure, Result, at_most
from scripts.benchmarking.rows.sold_tickets import issue_tickets
from scripts.benchmarking.servers.measured_server import MeasuredServer, measured_server
from scripts.benchmarking.statistics import Spread, milliseconds
from shared.clock import wall_clock
from shared.drawing.pen import Pen
from shared.tickets import SIGNED_AS
from sync_server.appearance.colours import BLACK
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.runtime import ServerRuntime
from sync_server.ticket_files import files
from sync_server.ticket_files.batches import queue
from sync_server.ticket_files.batches.printing import Batches
from sync_server.ticket_files.pdf.page import HEIGHT, WIDTH
from sync_server.tickets import queries as tickets
from sync_server.tickets.keys import codes, signing_keys
from sync_server.tickets.queries import Ticket, TicketFilter

SIGNED: Final = 10_000


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure on SQLite: what is measured asks the database little."""
    count = 1_000 if quick else SIGNED
    with measured_server("sqlite") as server:
        issue_tickets(server, count)
        with server.runtime() as runtime:
            rows = _rows(server, runtime, count)
            yield Result("pdf", f"{count} tickets signed", _signed(runtime, rows), at_most(5 * count / SIGNED))
            some = rows[: 100 if quick else 400]
            yield Result("pdf", "one ticket", _one(runtime, some), at_most(40, "p95"))
            yield Result("pdf", "one ticket processor time", _processor_time(runtime, some), at_most(40))
            yield from _batch(server, runtime, count)


def _rows(server: MeasuredServer, runtime: ServerRuntime, count: int) -> list[Ticket]:
    key = EventKey(server.demo["organisation"]["id"], server.demo["event"]["id"])
    with runtime.parts.database.reading() as session:
        return list(tickets.tickets(session, *key, TicketFilter(), limit=count, after=None).items)


def _signed(runtime: ServerRuntime, rows: list[Ticket]) -> Figure:
    def sign() -> None:
        with runtime.parts.database.reading() as session:
            codes.code_texts(session, rows, runtime.parts.sealer)

    def sign_alone() -> None:
        with runtime.parts.database.reading() as session:
            key = signing_keys.key(session, rows[0].organisation_id, rows[0].key_id)
        private = signing_keys.private_key(key, runtime.parts.sealer)
        for row in rows:
            private.sign(SIGNED_AS + row.claims)

    seconds, alone = _seconds(sign), _seconds(sign_alone)
    return Figure(value=seconds, unit="s", yardstick=alone, ratio=seconds / alone)


def _seconds(run: Callable[[], None]) -> float:
    began = time.monotonic()
    run()
    return time.monotonic() - began


def _one(runtime: ServerRuntime, rows: list[Ticket]) -> Figure:
    _pdf(runtime, rows[0])  # opens the fonts
    spread = Spread.of([milliseconds(partial(_pdf, runtime, row)) for row in rows])
    text = os.urandom(120).hex().upper()
    bare = Spread.of([milliseconds(partial(_bare, text)) for _ in rows])
    return Figure.of_spread(spread, "ms", yardstick=bare.p95)


def _processor_time(runtime: ServerRuntime, rows: list[Ticket]) -> Figure:
    """What other load on the machine hardly changes."""
    began = time.process_time()
    for row in rows:
        _pdf(runtime, row)
    return Figure(value=(time.process_time() - began) * 1000 / len(rows), unit="ms")


def _batch(server: MeasuredServer, runtime: ServerRuntime, count: int) -> Iterator[Result]:
    """All of them in one PDF, as the worker writes it: how long, and how much memory that took at most."""
    key = EventKey(server.demo["organisation"]["id"], server.demo["event"]["id"])
    database, context = runtime.parts.database, ActionContext(SYSTEM, wall_clock(), os.urandom)
    with database.writing() as session:
        batch = queue.ask(session, key, None, context)
    before = _resident_mb()
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted anew from here
    began = time.monotonic()
    Batches(runtime.parts.sealer, runtime.parts.stop).run(database, context)
    seconds, peak = time.monotonic() - began, peak_mb(os.getpid())
    with database.reading() as session:
        done = queue.find(session, key.organisation_id, batch.id)
    if done.state != "done" or done.written < count:
        raise RuntimeError(f"the batch is {done.state} with {done.written} tickets: {done.problem}")
    yield Result("pdf", f"{count} tickets in one PDF", Figure(value=seconds, unit="s"), at_most(600))
    size = done.bytes / 1024 / 1024
    figure = Figure(value=peak - before, unit="MB more", yardstick=size, ratio=(peak - before) / size)
    yield Result("pdf", f"{count} tickets in one PDF memory", figure, at_most(100))


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024 / 1024


def _pdf(runtime: ServerRuntime, row: Ticket) -> bytes:
    with runtime.parts.database.reading() as session:
        return files.pdf_of_ticket(session, runtime.parts.sealer, row, wall_clock())


def _bare(text: str) -> None:
    surface = cairocffi.PDFSurface(io.BytesIO(), WIDTH, HEIGHT)
    pen = Pen(cairocffi.Context(surface))
    pen.modules(tuple(codes.qr_code(text).matrix), 100, 100, 200, BLACK)
    surface.show_page()
    surface.finish()
