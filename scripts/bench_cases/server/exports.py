"""How fast the tickets of a large event are exported, and in how much memory.

The yardstick is the size of the file: whoever kept it in memory would need that much, and far more for a workbook.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterable, Iterator
from typing import Final

from scripts.benchmarking.result import Figure, Result, at_most
from scripts.benchmarking.rows.sold_tickets import issue_tickets
from scripts.benchmarking.servers.measured_server import MeasuredServer, measured_server
from sync_server.exports import files, tables
from sync_server.exports.tables import Evening
from sync_server.plumbing.event_key import EventKey
from sync_server.runtime import ServerRuntime

TICKETS: Final = 50_000
MB: Final = 1024 * 1024


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure both forms."""
    count = 5_000 if quick else TICKETS
    with measured_server("sqlite") as server:
        issue_tickets(server, count)
        with server.runtime() as runtime:
            for form in ("csv", "xlsx"):
                yield from _exported(server, runtime, form, count)


def _exported(server: MeasuredServer, runtime: ServerRuntime, form: str, count: int) -> Iterator[Result]:
    key = EventKey(server.demo["organisation"]["id"], server.demo["event"]["id"])
    began = time.monotonic()
    size = _export(runtime, key, form)
    yield Result(
        "exports", f"{count} tickets as {form}", Figure(value=time.monotonic() - began, unit="s"), at_most(120)
    )
    tracemalloc.start()  # afterwards, because it slows everything down
    _export(runtime, key, form)
    peak = tracemalloc.get_traced_memory()[1] / MB
    tracemalloc.stop()
    figure = Figure(value=peak, unit="MB at most", yardstick=size, ratio=peak / size)
    yield Result("exports", f"{count} tickets as {form} memory", figure, at_most(30))


def _export(runtime: ServerRuntime, key: EventKey, form: str) -> float:
    """Export all tickets, and throw away each piece; the size of the file in MB."""
    table = tables.TABLES["tickets"]
    with runtime.parts.database.reading() as session:
        evening = Evening.read(session, key)
    rows = tables.all_rows(runtime.parts.database, table, evening)
    pieces: Iterable[bytes] = files.csv_pieces(table.columns, rows)
    if form == "xlsx":
        pieces = files.pieces_of(files.workbook(table.columns, rows, "tickets"))
    return sum(map(len, pieces)) / MB
