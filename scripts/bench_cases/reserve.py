"""Seats held over HTTP by guests who come at the same time: how many a second, how long each waits, and none twice.

The house is on sale with its default policy; every request is another seat, unless the case says one seat. Who holds
has come in before; each guest takes ten seats. The yardstick is a bare Flask endpoint behind the same kind of server,
with as many processes, that writes the same rows into copies of the same tables, foreign keys and all, in one
statement and asks nothing. At one seat both are asked the same in turns: one is told 201, all others 409. Where
20000 clients want 5000 seats, each comes on a connection of its own, and at most 1000 are there at a time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain, count, islice

import orjson

from scripts.measuring import crowd, rows_house
from scripts.measuring.bare_hold import BareHold
from scripts.measuring.crowd import Crowd, post
from scripts.measuring.labour import in_words, labour, since
from scripts.measuring.measured_server import POSTGRES_PROCESSES, MeasuredServer, analyse, measured_server
from scripts.measuring.result import Figure, Goal, Result, at_least, at_most, both
from scripts.measuring.rows_house import Guest, RowsHouse
from scripts.measuring.statistics import Spread, percentile
from shared.clock import wall_clock

GUESTS_SEATS = 10
RUSHES: dict[int, Goal] = {200: at_most(200, "p95"), 1_000: both(at_most(2_000), at_most(2, "ratio"))}
"""At one seat. The value is the longest wait, the ratio that of the waits of 95 in 100."""
THRONG, THRONG_SEATS, THRONG_AT_ONCE = 20_000, 5_000, 1_000
SPACED = 3
"""Of a row: whoever takes every third seat never leaves a single one, in whatever order they come."""
CASES: dict[str, dict[int, Goal]] = {
    "postgresql": {8: at_least(0.5, "ratio"), 100: both(at_least(0.5, "ratio"), at_most(200, "p95"))},
    "sqlite": {8: both(at_least(800), at_most(50, "p95"))},
}


def measure(*, quick: bool) -> Iterator[Result]:
    """Ours and the bare endpoint in turns."""
    oversold = 0
    for database, cases in CASES.items():
        with ExitStack() as ends:
            stage = Stage(ends, database, quick=quick)
            for clients, goal in cases.items():
                yield Result("reserve", f"{database} {clients} clients", stage.rounds(clients), goal)
            if database == "postgresql":
                for clients, goal in RUSHES.items():
                    yield stage.rush(clients, goal)
            if database == "postgresql" and not quick:
                yield stage.throng()
            oversold += stage.oversold()
    yield Result("reserve", "oversold", Figure(value=oversold, unit="seats"), at_most(0))


@dataclass
class Stage:
    """A server with an event on sale, and the bare endpoint beside it."""

    ends: ExitStack
    database: str
    quick: bool
    house: RowsHouse = field(init=False)

    def __post_init__(self) -> None:
        """Fill first, serve then."""
        self.requests, self.turns = (1_200, 2) if self.quick else (4_000, 3)
        everything = self.database == "postgresql" and not self.quick
        self.server: MeasuredServer = self.ends.enter_context(measured_server(self.database))
        cases = len(CASES[self.database])
        wanted = (self.requests + 100 * rows_house.SOLD_OF_A_ROW) * (self.turns + 1) * cases + 100
        self.house = rows_house.found(self.server, wanted + (THRONG_SEATS + 100) * SPACED * everything)
        ids, width = [id for id, _ in self.house.seats], rows_house.SOLD_OF_A_ROW
        self.rows = iter([ids[start : start + width] for start in range(0, len(ids), width)])
        guests = wanted // GUESTS_SEATS + 150 * cases * (self.turns + 1) + sum(RUSHES) * self.turns
        self.guests = iter(rows_house.let_in(self.server, self.house, guests + THRONG * everything))
        self.numbers = count(1)
        url = self.server.place.environment["GATEHOUSE_DATABASE_URL"]
        rows_house.copy_tables(url)
        analyse(self.server)
        self.server.serve()
        processes = POSTGRES_PROCESSES if self.database == "postgresql" else 1
        self.bare = BareHold(self.server.place.folder, url, processes)
        self.bare.start()
        self.ends.callback(self.bare.stop)

    def rounds(self, clients: int) -> Figure:
        """A second of each for warming up, then in turns."""
        self._ours(clients, self.requests // 2)
        self._bare(clients, self.requests // 2)
        analyse(self.server)
        ours, bare = [], []
        programs = self.server.programs
        theirs = {name: id for name, id in programs.items() if name == "database"} | {"bare endpoint": self.bare.pid}
        for _ in range(self.turns):
            before = labour(programs)
            ours.append(self._ours(clients, self.requests))
            self._say(clients, in_words(since(before, programs), self.requests))
            before = labour(theirs)
            bare.append(self._bare(clients, self.requests))
            self._say(clients, in_words(since(before, theirs), self.requests))
        rate, most = (percentile([each.rate for each in some], 0.5) for some in (ours, bare))
        spread = Spread.of([millis for each in ours for millis in each.millis])
        return Figure(
            value=rate,
            unit="holds/s",
            p50=spread.p50,
            p95=spread.p95,
            p99=spread.p99,
            yardstick=most,
            ratio=rate / most,
        )

    def _say(self, clients: int, words: str) -> None:
        """Rates change with whatever else the machine does; what is worked for a hold hardly does."""
        print(f"{self.database} {clients} clients, µs of processor time a hold: {words}", file=sys.stderr, flush=True)

    def rush(self, clients: int, goal: Goal) -> Result:
        """All of them at one seat, again and again at another, in turns with the bare endpoint: one gets it."""
        ours, bare = Crowd(), Crowd()
        for _ in range(self.turns):
            seat, number = next(self.rows)[0], next(self.numbers)
            wishes = (self._reserve(next(self.guests), seat) for _ in range(clients))
            ours.add(self._one_gets_it(self.server.place.address, clients, wishes))
            wishes = (self._bare_request(number, f"bare-rush-{turn}") for turn in range(clients))
            bare.add(self._one_gets_it(self.bare.address, clients, wishes))
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

    def _one_gets_it(self, address: str, clients: int, wishes: Iterator[bytes]) -> Crowd:
        told = crowd.ask(address, clients, lambda _: islice(wishes, 1))
        if told.statuses[201] != 1 or set(told.statuses) != {201, 409}:
            raise RuntimeError(f"one seat, {clients} clients at {address}: {dict(told.statuses)}")
        return told

    def throng(self) -> Result:
        """Four times as many clients as seats: every seat is held, once, as the tables say."""
        before = rows_house.held(self.server, self.house)
        seats = list(islice(chain.from_iterable(row[::SPACED] for row in self.rows), THRONG_SEATS))
        wishes = (self._reserve(next(self.guests), seats[turn % THRONG_SEATS]) for turn in range(THRONG))
        told = crowd.ask(self.server.place.address, THRONG_AT_ONCE, lambda _: wishes, each_anew=True)
        held = rows_house.held(self.server, self.house) - before
        if set(told.statuses) != {201, 409} or told.statuses[201] != held:
            raise RuntimeError(f"{THRONG} clients, {held} seats held: {dict(told.statuses)}")
        spread = Spread.of(told.millis)
        figure = Figure(value=held, unit="seats held", p50=spread.p50, p95=spread.p95, p99=spread.p99)
        goal = both(at_least(THRONG_SEATS), at_most(THRONG_SEATS))
        return Result("reserve", f"postgresql {THRONG} clients {THRONG_SEATS} seats", figure, goal)

    def oversold(self) -> int:
        """Whatever was wrong, over all runs."""
        return rows_house.oversold(self.server, self.house)

    def _ours(self, clients: int, requests: int) -> Crowd:
        told = crowd.ask(self.server.place.address, clients, lambda _: self._one_after_another(requests // clients))
        if set(told.statuses) != {201}:
            raise RuntimeError(f"not every free seat could be held: {dict(told.statuses)}")
        return told

    def _one_after_another(self, requests: int) -> Iterator[bytes]:
        # Each client fills rows of its own: a seat that leaves another one single would be refused.
        seats = chain.from_iterable(self._rows_of_one(requests))
        for turn, seat in enumerate(islice(seats, requests)):
            if turn % GUESTS_SEATS == 0:
                guest = next(self.guests)
            yield self._reserve(guest, seat)

    def _rows_of_one(self, requests: int) -> Iterator[list[str]]:
        """As many rows as one client needs, taken one by one."""
        return (next(self.rows) for _ in range(-(-requests // rows_house.SOLD_OF_A_ROW)))

    def _reserve(self, guest: Guest, seat: str) -> bytes:
        path = f"/api/events/{self.house.event_id}/seats/{seat}/reserve"
        return post(path, b'{"source":"web"}', **guest.headers)

    def _bare(self, clients: int, requests: int) -> Crowd:
        told = crowd.ask(self.bare.address, clients, lambda turn: self._bare_requests(turn, requests // clients))
        if set(told.statuses) != {201}:
            raise RuntimeError(f"the bare endpoint answers {dict(told.statuses)}")
        return told

    def _bare_requests(self, turn: int, requests: int) -> Iterator[bytes]:
        for request in range(requests):
            yield self._bare_request(next(self.numbers), f"bare-{turn}-{request // GUESTS_SEATS}")

    def _bare_request(self, seat: int, bearer: str) -> bytes:
        body = {
            "event": self.house.event_id,
            "organisation": self.house.organisation_id,
            "seat": seat,
            "bearer": bearer,
            "now": wall_clock(),
        }
        return post("/hold", orjson.dumps(body))
