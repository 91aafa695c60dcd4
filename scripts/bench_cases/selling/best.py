"""The best two seats left, held over HTTP: by forty guests at the same moment, and in a stadium of 60,000 seats.

`40 guests at once` sends forty requests together, round after round, on 2,000 free seats. The value is how many of the
forty are served at the first try in the worst round. The yardstick is the processor time of forty requests one after
another, shared by two cores. `60000 seats 26000 sold processor` is the processor time of one request over all
processes, the relay of its facts included, when no other guest is there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice

from scripts.benchmarking.clients import load_generator
from scripts.benchmarking.clients.load_generator import LoadResult, post
from scripts.benchmarking.meters.cpu_time import cpu_seconds, cpu_seconds_since, describe_cpu
from scripts.benchmarking.result import Figure, Result, at_least, at_most, both
from scripts.benchmarking.rows import rows_venue, stadium_event
from scripts.benchmarking.rows.rows_venue import RowsVenue
from scripts.benchmarking.servers.measured_server import MeasuredServer, analyse, measured_server
from scripts.benchmarking.statistics import Spread

GUESTS = 40
CORES = 2
FREE = 1_800  # of every 20 seats of a row the venue counts 18: 2,000 in all
TAKEN = 26_000
WARM_UP = 40


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure PostgreSQL with several processes, and SQLite."""
    for database in ("postgresql", "sqlite"):
        with ExitStack() as cleanup:
            yield from Benchmark(cleanup, database, quick=quick).results()


class Benchmark:
    """A server with an empty venue of straight rows and a partly sold stadium."""

    def __init__(self, cleanup: ExitStack, database: str, *, quick: bool) -> None:
        """Fill the tables first, then start the server."""
        self.database, self.rounds, self.alone = database, 4 if quick else 10, 60 if quick else 200
        self.server: MeasuredServer = cleanup.enter_context(measured_server(database))
        self.rows = rows_venue.create_rows_venue(self.server, FREE)
        stadium = stadium_event.create_stadium_event(self.server, TAKEN)
        self.stadium = RowsVenue(self.rows.organisation_id, stadium.event_id, ())
        guests = 2 * (WARM_UP + self.alone) + (self.rounds + 1) * GUESTS
        self.guests = iter(rows_venue.register_guests(self.server, self.rows, guests))
        analyse(self.server)
        self.server.serve()
        self.server.until_idle()

    def results(self) -> Iterator[Result]:
        """Measure both cases of one database."""
        processor = self._processor(self.rows)
        yardstick = GUESTS * processor / CORES
        self._hold(self.rows, GUESTS, GUESTS)
        rounds = [self._hold(self.rows, GUESTS, GUESTS) for _ in range(self.rounds)]
        spread = Spread.of([millis for each in rounds for millis in each.millis])
        figure = Figure(
            value=min(each.statuses[201] for each in rounds),
            unit=f"of {GUESTS}",
            p50=spread.p50,
            p95=spread.p95,
            p99=spread.p99,
            yardstick=yardstick,
            ratio=spread.p95 / yardstick,
        )
        goal = both(at_least(GUESTS), at_most(1.3, "ratio"))
        yield Result("best", f"{self.database} {GUESTS} guests at once", figure, goal)
        stadium = Figure(value=self._processor(self.stadium), unit="ms")
        yield Result("best", f"{self.database} 60000 seats {TAKEN} sold processor", stadium, at_most(5))

    def _processor(self, venue: RowsVenue) -> float:
        """Milliseconds of processor time for one request, while there are no others."""
        self._hold(venue, WARM_UP // 4, WARM_UP)  # every process builds its seating
        self.server.until_idle()
        before = cpu_seconds(self.server.programs)
        result = self._hold(venue, 1, self.alone)
        used = cpu_seconds_since(before, self.server.programs)
        if set(result.statuses) != {201}:
            raise RuntimeError(f"not every pair was held: {dict(result.statuses)}")
        print(f"{self.database}, µs of CPU time for a pair: {describe_cpu(used, self.alone)}", file=sys.stderr)
        return sum(used.values()) / self.alone * 1_000

    def _hold(self, venue: RowsVenue, clients: int, requests: int) -> LoadResult:
        """Hold so many pairs, each for another guest."""
        headers = (guest.headers for guest in islice(self.guests, requests))
        posts = [post(f"/api/events/{venue.event_id}/holds", b'{"best":2}', **each) for each in headers]
        return load_generator.generate_load(
            self.server.layout.address, clients, lambda number: iter(posts[number::clients])
        )
