"""Seats held over HTTP by many guests at once: holds per second, latency, and no seat held twice.

The event is on sale with the default policy. Every request is for another seat, unless the case says one seat. All
guests have sessions already, and each holds ten seats. The yardstick is a bare Flask endpoint behind the same WSGI
server, with as many processes, that writes the same rows into copies of the same tables, with foreign keys, in one
statement and without any checks. At one seat the requests to both are the same, round by round: one gets 201, all
others 409. Nothing is measured before the worker has loaded its program, and the processor time of a round includes
the relay of its last fact. Where 20000 clients want 5000 seats, each uses its own connection, and at most 1000 are open
at a time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain, count, islice

import orjson

from scripts.benchmarking.clients import load_generator
from scripts.benchmarking.clients.load_generator import LoadResult, post
from scripts.benchmarking.meters.cpu_time import cpu_seconds, cpu_seconds_since, describe_cpu
from scripts.benchmarking.result import Figure, Goal, Result, at_least, at_most, both
from scripts.benchmarking.rows import rows_venue
from scripts.benchmarking.rows.rows_venue import Guest, RowsVenue
from scripts.benchmarking.servers.measured_server import POSTGRES_PROCESSES, MeasuredServer, analyse, measured_server
from scripts.benchmarking.statistics import Spread, percentile
from scripts.benchmarking.yardsticks.bare_hold import BareHold
from shared.clock import wall_clock

GUESTS_SEATS = 10
SINGLE_SEAT_CASES: dict[int, Goal] = {200: at_most(200, "p95"), 1_000: both(at_most(2_000), at_most(2, "ratio"))}
"""Clients at one seat. The value is the longest latency, the ratio is of the p95 latencies."""
CROWD, CROWD_SEATS, CROWD_AT_ONCE = 20_000, 5_000, 1_000
SEAT_STEP = 3
"""Holding every third seat of a row never leaves a single seat, in whatever order the holds arrive."""
CASES: dict[str, dict[int, Goal]] = {
    "postgresql": {8: at_least(0.6, "ratio"), 100: both(at_least(0.5, "ratio"), at_most(200, "p95"))},
    "sqlite": {8: both(at_least(800), at_most(50, "p95"))},
}


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure the server and the bare endpoint alternately."""
    oversold = 0
    for database, cases in CASES.items():
        with ExitStack() as cleanup:
            benchmark = Benchmark(cleanup, database, quick=quick)
            for clients, goal in cases.items():
                yield Result("reserve", f"{database} {clients} clients", benchmark.rounds(clients), goal)
            if database == "postgresql":
                for clients, goal in SINGLE_SEAT_CASES.items():
                    yield benchmark.single_seat(clients, goal)
            if database == "postgresql" and not quick:
                yield benchmark.crowd()
            oversold += benchmark.oversold()
    yield Result("reserve", "oversold", Figure(value=oversold, unit="seats"), at_most(0))


@dataclass
class Benchmark:
    """A server with an event on sale, and the bare endpoint."""

    cleanup: ExitStack
    database: str
    quick: bool
    venue: RowsVenue = field(init=False)

    def __post_init__(self) -> None:
        """Fill the tables first, then start the servers."""
        self.requests, self.rounds_per_case = (1_200, 2) if self.quick else (4_000, 3)
        full_run = self.database == "postgresql" and not self.quick
        self.server: MeasuredServer = self.cleanup.enter_context(measured_server(self.database))
        cases = len(CASES[self.database])
        seats_needed = (self.requests + 100 * rows_venue.SOLD_OF_A_ROW) * (self.rounds_per_case + 1) * cases + 100
        self.venue = rows_venue.create_rows_venue(
            self.server, seats_needed + (CROWD_SEATS + 100) * SEAT_STEP * full_run
        )
        ids, width = [id for id, _ in self.venue.seats], rows_venue.SOLD_OF_A_ROW
        self.rows = iter([ids[start : start + width] for start in range(0, len(ids), width)])
        guests = seats_needed // GUESTS_SEATS + 150 * cases * (self.rounds_per_case + 1)
        guests += sum(SINGLE_SEAT_CASES) * self.rounds_per_case
        self.guests = iter(rows_venue.register_guests(self.server, self.venue, guests + CROWD * full_run))
        self.numbers = count(1)
        url = self.server.layout.environment["GATEHOUSE_DATABASE_URL"]
        analyse(self.server)
        self.server.serve()
        rows_venue.copy_tables(url)  # after the start, at which the server refuses tables that it does not declare
        processes = POSTGRES_PROCESSES if self.database == "postgresql" else 1
        self.bare = BareHold(self.server.layout.folder, url, processes)
        self.bare.start()
        self.cleanup.callback(self.bare.stop)
        self.server.until_idle()

    def rounds(self, clients: int) -> Figure:
        """Warm up both, then measure them alternately."""
        self._run_server(clients, self.requests // 2)
        self._run_bare(clients, self.requests // 2)
        analyse(self.server)
        ours, bare = [], []
        programs = self.server.programs
        bare_programs = {name: id for name, id in programs.items() if name == "database"} | {
            "bare endpoint": self.bare.pid
        }
        for _ in range(self.rounds_per_case):
            before = cpu_seconds(programs)
            ours.append(self._run_server(clients, self.requests))
            self.server.until_relayed()
            self._print_cpu(clients, describe_cpu(cpu_seconds_since(before, programs), self.requests))
            before = cpu_seconds(bare_programs)
            bare.append(self._run_bare(clients, self.requests))
            self._print_cpu(clients, describe_cpu(cpu_seconds_since(before, bare_programs), self.requests))
        rate, bare_rate = (percentile([each.rate for each in some], 0.5) for some in (ours, bare))
        spread = Spread.of([millis for each in ours for millis in each.millis])
        return Figure(
            value=rate,
            unit="holds/s",
            p50=spread.p50,
            p95=spread.p95,
            p99=spread.p99,
            yardstick=bare_rate,
            ratio=rate / bare_rate,
        )

    def _print_cpu(self, clients: int, text: str) -> None:
        """Print CPU time, which other load on the machine changes far less than rates."""
        print(f"{self.database} {clients} clients, µs of CPU time per hold: {text}", file=sys.stderr, flush=True)

    def single_seat(self, clients: int, goal: Goal) -> Result:
        """All clients request one seat, round after round; exactly one gets it."""
        ours, bare = LoadResult(), LoadResult()
        for _ in range(self.rounds_per_case):
            seat, seat_number = next(self.rows)[0], next(self.numbers)
            requests = (self._reserve(next(self.guests), seat) for _ in range(clients))
            ours.add(self._one_winner(self.server.layout.address, clients, requests))
            requests = (self._bare_request(seat_number, _bearer(0, client)) for client in range(clients))
            bare.add(self._one_winner(self.bare.address, clients, requests))
        spread, yardstick = Spread.of(ours.millis), Spread.of(bare.millis).p95
        figure = Figure(
            value=max(ours.millis),
            unit="ms at most",
            p50=spread.p50,
            p95=spread.p95,
            p99=spread.p99,
            yardstick=yardstick,
            ratio=spread.p95 / yardstick,
        )
        return Result("reserve", f"postgresql {clients} clients one seat", figure, goal)

    def _one_winner(self, address: str, clients: int, requests: Iterator[bytes]) -> LoadResult:
        result = load_generator.generate_load(address, clients, lambda _: islice(requests, 1))
        if result.statuses[201] != 1 or set(result.statuses) != {201, 409}:
            raise RuntimeError(f"one seat, {clients} clients at {address}: {dict(result.statuses)}")
        return result

    def crowd(self) -> Result:
        """Four times as many clients as seats: every seat is held exactly once, as the tables show."""
        before = rows_venue.held(self.server, self.venue)
        seats = list(islice(chain.from_iterable(row[::SEAT_STEP] for row in self.rows), CROWD_SEATS))
        requests = (self._reserve(next(self.guests), seats[number % CROWD_SEATS]) for number in range(CROWD))
        result = load_generator.generate_load(
            self.server.layout.address, CROWD_AT_ONCE, lambda _: requests, reconnect=True
        )
        held = rows_venue.held(self.server, self.venue) - before
        if set(result.statuses) != {201, 409} or result.statuses[201] != held:
            raise RuntimeError(f"{CROWD} clients, {held} seats held: {dict(result.statuses)}")
        spread = Spread.of(result.millis)
        figure = Figure(value=held, unit="seats held", p50=spread.p50, p95=spread.p95, p99=spread.p99)
        goal = both(at_least(CROWD_SEATS), at_most(CROWD_SEATS))
        return Result("reserve", f"postgresql {CROWD} clients {CROWD_SEATS} seats", figure, goal)

    def oversold(self) -> int:
        """The number of oversold seats over all runs."""
        return rows_venue.oversold(self.server, self.venue)

    def _run_server(self, clients: int, requests: int) -> LoadResult:
        result = load_generator.generate_load(
            self.server.layout.address, clients, lambda _: self._client_requests(requests // clients)
        )
        if set(result.statuses) != {201}:
            raise RuntimeError(f"not every free seat could be held: {dict(result.statuses)}")
        return result

    def _client_requests(self, requests: int) -> Iterator[bytes]:
        # Each client fills its own rows: a hold that leaves a single seat would be refused.
        seats = chain.from_iterable(self._client_rows(requests))
        for number, seat in enumerate(islice(seats, requests)):
            if number % GUESTS_SEATS == 0:
                guest = next(self.guests)
            yield self._reserve(guest, seat)

    def _client_rows(self, requests: int) -> Iterator[list[str]]:
        """The rows that one client needs."""
        return (next(self.rows) for _ in range(-(-requests // rows_venue.SOLD_OF_A_ROW)))

    def _reserve(self, guest: Guest, seat: str) -> bytes:
        path = f"/api/events/{self.venue.event_id}/seats/{seat}/reserve"
        return post(path, b'{"source":"web"}', **guest.headers)

    def _run_bare(self, clients: int, requests: int) -> LoadResult:
        result = load_generator.generate_load(
            self.bare.address, clients, lambda number: self._bare_requests(number, requests // clients)
        )
        if set(result.statuses) != {201}:
            raise RuntimeError(f"the bare endpoint responded {dict(result.statuses)}")
        return result

    def _bare_requests(self, number: int, requests: int) -> Iterator[bytes]:
        for request in range(requests):
            yield self._bare_request(next(self.numbers), _bearer(1 + number, request // GUESTS_SEATS))

    def _bare_request(self, seat: int, bearer: str) -> bytes:
        body = {
            "event": self.venue.event_id,
            "organisation": self.venue.organisation_id,
            "seat": seat,
            "bearer": bearer,
            "now": wall_clock(),
        }
        return post("/hold", orjson.dumps(body))


def _bearer(number: int, guest: int) -> str:
    """The id of a guest of the bare endpoint."""
    return f"{number:08x}-0000-7000-8000-{guest:012x}"
