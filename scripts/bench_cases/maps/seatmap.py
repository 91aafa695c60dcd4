"""The seat map of a stadium of 60,000 seats over HTTP: whole, after a change, and on 200 pages during a sale.

Two fifths of the seats are sold and one in twenty is held, scattered, which compresses worst. `first answer` is the
whole map for a page that has nothing yet, from a warm server; its yardstick is a bare Flask endpoint that sends the
same bytes ready-made, run alternately. `at the start` is the very first response of a server that has just started;
`house changed` the first after a seat was blocked, when the whole map is drawn again. In `after a change` a seat is
held before every request, so no response is cached.

`while selling`: 100 pages on streams, 100 on long polls, and eight clients that hold seats of another event with
60,000 seats as fast as they can. The time runs from the response to each hold until each page shows it; at the end
every page must match the table of seats.
"""

from __future__ import annotations

import http.client
import os
import sys
import threading
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

import orjson
import zstandard
from sqlalchemy import text

from scripts.benchmarking.clients.map_pages import MapPage, MapPages
from scripts.benchmarking.meters.cpu_time import cpu_seconds, cpu_seconds_since, describe_cpu
from scripts.benchmarking.result import Figure, Goal, Result, at_least, at_most
from scripts.benchmarking.rows import rows_venue, stadium_event
from scripts.benchmarking.rows.rows_venue import SOLD_OF_A_ROW, Guest, RowsVenue
from scripts.benchmarking.rows.stadium_event import StadiumEvent
from scripts.benchmarking.servers.measured_server import MeasuredServer, analyse, measured_server
from scripts.benchmarking.statistics import Spread, interleaved, milliseconds
from scripts.benchmarking.yardsticks.bare_bytes import BareBytes
from scripts.processes.streams_address import opened_stream
from shared.clock import wall_clock
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.runtime import ServerRuntime
from sync_server.seating import event_layouts, queries
from sync_server.seating.bitmap import unpack
from sync_server.seating.event_layouts import LayoutChoice
from sync_server.seating.plans.seat_plans import layout_seats

COMPRESSED = {"Accept-Encoding": "gzip, deflate, br, zstd"}
FAST = at_most(50, "p95")
SECOND = at_most(1_000, "p95")
DRAWN = at_most(5_000)
WARM_UP = 20
TIMEOUT_S = 60
STREAMS = POLLS = 100
CLIENTS = 8
GUESTS_SEATS = 10
IDLE_S = 0.05
"""CPU seconds per second below which a server counts as idle."""


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure PostgreSQL with several processes, and SQLite with its defaults."""
    for database in ("postgresql", "sqlite"):
        with ExitStack() as cleanup:
            yield from Benchmark(cleanup, database, quick=quick).results()


class Benchmark:
    """A server with a partly sold stadium, and a second event that is on sale."""

    def __init__(self, cleanup: ExitStack, database: str, *, quick: bool) -> None:
        """Fill the tables first, then start the server."""
        self.cleanup, self.database, self.quick = cleanup, database, quick
        self.server: MeasuredServer = cleanup.enter_context(measured_server(database))
        self.stadium: StadiumEvent = stadium_event.create_stadium_event(self.server)
        self.rows = rows_venue.create_rows_venue(self.server, 54_000)
        self.holds = 800 if quick else 4_000
        self.guests = iter(
            rows_venue.register_guests(self.server, self.rows, 2 * (self.holds // GUESTS_SEATS + CLIENTS))
        )
        seats = self.rows.seats
        self.free = iter([seats[start : start + SOLD_OF_A_ROW] for start in range(0, len(seats), SOLD_OF_A_ROW)])
        analyse(self.server)

    def results(self) -> Iterator[Result]:
        """Measure all cases of one database."""
        self.server.serve()
        yield from self._whole_map()
        yield from self._changes()
        yield from self._selling()

    def _result(self, case: str, figure: Figure, goal: Goal) -> Result:
        prefix = "" if self.database == "postgresql" else f"{self.database} "
        return Result("seatmap", f"{prefix}60000 seats {case}", figure, goal)

    def _whole_map(self) -> Iterator[Result]:
        path = f"/api/events/{self.stadium.event_id}/seatmap"
        connection = Connection(self.server.layout.address)
        yield self._result("at the start", Figure(value=milliseconds(lambda: connection.get(path)), unit="ms"), DRAWN)
        self._until_drawn()
        self._print_cpu(
            "the start, both maps drawn in each process", describe_cpu(cpu_seconds(self.server.programs), 1)
        )
        ready = connection.get(path)
        bare = BareBytes(self.server.layout.folder, ready)
        bare.start()
        self.cleanup.callback(bare.stop)
        bare_connection, rounds = Connection(bare.address), 150 if self.quick else 1_000
        actions = [lambda: connection.get(path), lambda: bare_connection.get("/")]
        interleaved(actions, WARM_UP)
        programs = self.server.programs | {"bare endpoint": bare.pid}
        before = cpu_seconds(programs)
        spread, bare_spread = (Spread.of(taken) for taken in interleaved(actions, rounds))
        self._print_cpu("a response", describe_cpu(cpu_seconds_since(before, programs), rounds))
        yield self._result("first answer", Figure.of_spread(spread, "ms", bare_spread.p50), FAST)
        conditional = Connection(self.server.layout.address, COMPRESSED | {"If-None-Match": connection.etag})
        unchanged = Spread.of([milliseconds(lambda: conditional.get(path, 304)) for _ in range(rounds)])
        yield self._result("nothing new (304)", Figure.of_spread(unchanged, "ms", bare_spread.p50), FAST)
        plain = Connection(self.server.layout.address, {"Accept-Encoding": "gzip"}).get(path)
        yield self._result("kilobytes", Figure(value=len(ready) / 1000, unit="kB"), at_most(400))
        yield self._result("kilobytes gzip", Figure(value=len(plain) / 1000, unit="kB"), at_most(400))

    def _until_drawn(self) -> None:
        """Wait until every process has drawn both maps, which is not part of a response."""
        server = {"server": self.server.programs["server"]}
        for _ in range(TIMEOUT_S):
            before = cpu_seconds(server)
            time.sleep(1)
            if cpu_seconds_since(before, server)["server"] < IDLE_S:
                return

    def _changes(self) -> Iterator[Result]:
        """Measure changes made by this process. On SQLite nothing tells the server of a second writer, which production
        does not have: there `while selling` says how soon a page shows a change.
        """
        runtime = self.cleanup.enter_context(self.server.runtime())
        connection, path = Connection(self.server.layout.address), f"/api/events/{self.stadium.event_id}/seatmap"
        page = Page(self.server.layout.address, path, _state(connection.get(path))["version"])
        taken, arrived = [], []
        for seat in self.stadium.free[: 20 if self.quick else 100]:
            arrived.append(page.after(partial(_hold, runtime, self.stadium, seat)))
            taken.append(milliseconds(lambda: connection.get(path)))
        yield self._result("after a change", Figure.of_spread(Spread.of(taken), "ms"), FAST)
        if self.database == "postgresql":
            yield self._result("change to page", Figure.of_spread(Spread.of(arrived), "ms"), SECOND)
        _block(runtime, self.stadium, self.stadium.free[-1])
        yield self._result("house changed", Figure(value=milliseconds(lambda: connection.get(path)), unit="ms"), DRAWN)

    def _selling(self) -> Iterator[Result]:
        alone = self._sell("nobody watches")
        path = f"/api/events/{self.rows.event_id}/seatmap"
        address, token = self.server.layout.address, self.server.demo["api_token"]
        signed_in = COMPRESSED | {"Authorization": f"Bearer {token}"}
        staff_seats = [_page(Connection(address, signed_in).get(path)) for _ in range(STREAMS)]
        public_seats = [_page(Connection(address).get(path)) for _ in range(POLLS)]
        pages = MapPages(address, path, token, staff_seats, public_seats)
        pages.open()
        watched = self._sell("200 pages watch")
        self._wait_for_pages(pages, watched)
        delays = [
            (page.changed_at[seat] - at) * 1000
            for page in pages
            for seat, at in watched.at.items()
            if seat in page.changed_at
        ]
        pages.close()
        rejected, reconnects, responses = (
            sum(getattr(page, what) for page in pages) for what in ("rejected", "reconnects", "responses")
        )
        self._print_cpu("pages", f"{responses} responses, {rejected} rejected, {reconnects} streams reconnected")
        spread = Spread.of([max(0.0, each) for each in delays])
        yield self._result("while selling, hold to page", Figure.of_spread(spread, "ms"), SECOND)
        yield self._result("pages that are wrong", Figure(value=self._wrong_pages(pages), unit="pages"), at_most(0))
        rates = Figure(value=watched.rate, unit="holds/s", yardstick=alone.rate, ratio=watched.rate / alone.rate)
        yield self._result("holds while 200 pages watch", rates, at_least(0))

    def _sell(self, case: str) -> Sold:
        before = cpu_seconds(self.server.programs)
        sold = sell(self.server.layout.address, self.rows, [self._assign() for _ in range(CLIENTS)])
        self._print_cpu(f"a hold, {case}", describe_cpu(cpu_seconds_since(before, self.server.programs), len(sold.at)))
        return sold

    def _assign(self) -> list[tuple[Guest, str, int]]:
        """The holds of one client: its own rows from the left, a new guest for every ten seats."""
        count = self.holds // CLIENTS
        seats = [seat for row in islice(self.free, -(-count // SOLD_OF_A_ROW)) for seat in row][:count]
        guests = [next(self.guests) for _ in range(-(-count // GUESTS_SEATS))]
        return [(guests[index // GUESTS_SEATS], id, number) for index, (id, number) in enumerate(seats)]

    def _wait_for_pages(self, pages: MapPages, sold: Sold) -> None:
        until = time.monotonic() + TIMEOUT_S
        while time.monotonic() < until and any(not sold.at.keys() <= page.changed_at.keys() for page in pages):
            time.sleep(0.2)

    def _wrong_pages(self, pages: MapPages) -> int:
        """Count the pages that differ from the seat table; the public sees held seats as taken."""
        with self.server.runtime() as runtime, runtime.parts.database.reading() as session:
            query = text(
                "SELECT seat, state FROM event_seats "
                "WHERE event_id = :event AND (state = 2 OR (state = 1 AND held_until > :now))"
            )
            rows_found = session.execute(query, {"event": self.rows.event_id, "now": wall_clock()})
            rows: dict[int, int] = {row.seat: row.state for row in rows_found}
        first, count = pages.polls[0].first, len(pages.polls[0].seats)
        staff_seats = bytes(rows.get(seat, 0) for seat in range(first, first + count))
        public_seats = bytes(2 if state else 0 for state in staff_seats)
        wrong = [bytes(page.seats) != staff_seats for page in pages.streams]
        return sum(wrong) + sum(bytes(page.seats) != public_seats for page in pages.polls)

    def _print_cpu(self, what: str, text: str) -> None:
        """Print CPU time, which other load on the machine changes far less than latencies."""
        print(f"{self.database}, µs of CPU time for {what}: {text}", file=sys.stderr, flush=True)


@dataclass
class Sold:
    """When each hold was confirmed, by seat number."""

    at: dict[int, float]
    seconds: float

    @property
    def rate(self) -> float:
        """Holds per second."""
        return len(self.at) / self.seconds


def sell(address: str, stadium: RowsVenue, assignments: list[list[tuple[Guest, str, int]]]) -> Sold:
    """Run clients that hold seat after seat, each as fast as the server responds."""
    at: dict[int, float] = {}
    errors: list[str] = []

    def run(assignment: list[tuple[Guest, str, int]]) -> None:
        connection = http.client.HTTPConnection(urlsplit(address).netloc)
        for guest, seat, number in assignment:
            path = f"/api/events/{stadium.event_id}/seats/{seat}/reserve"
            named = {name.replace("_", "-"): value for name, value in guest.headers.items()}
            connection.request("POST", path, b'{"source":"web"}', named | {"Content-Type": "application/json"})
            response = connection.getresponse()
            body = response.read()
            if response.status != 201:
                errors.append(f"{response.status} {body[:300]!r}")
                return
            at[number] = time.perf_counter()

    threads = [threading.Thread(target=run, args=(assignment,)) for assignment in assignments]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise RuntimeError(f"not every free seat could be held: {errors[0]}")
    return Sold(at, time.perf_counter() - started)


def _hold(runtime: ServerRuntime, stadium: StadiumEvent, seat: int) -> None:
    with runtime.parts.database.writing() as session:
        stadium.hold(session, [seat])


def _block(runtime: ServerRuntime, stadium: StadiumEvent, seat: int) -> None:
    """Block a seat, as an organiser does."""
    organisation = stadium.server.demo["organisation"]["id"]
    with runtime.parts.database.writing() as session:
        row = queries.event_layout(session, organisation, stadium.event_id)
        name = layout_seats(session, organisation, row.layout_id).name(seat)
        chosen = LayoutChoice(row.layout_id, blocked_seats=(name,))
        event_layouts.choose(
            session, organisation, stadium.event_id, chosen, ActionContext(SYSTEM, wall_clock(), os.urandom)
        )


def _state(body: bytes) -> dict[str, Any]:
    text = zstandard.ZstdDecompressor().decompressobj().decompress(body)
    return dict(orjson.loads(text)["state"])


def _page(body: bytes) -> MapPage:
    state = _state(body)
    return MapPage(state["version"], bytearray(unpack(b64decode(state["seats"]), state["count"])), state["first"])


class Connection:
    """A connection that stays open, as a browser's does."""

    def __init__(self, address: str, headers: dict[str, str] | None = None) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(address).netloc)
        self._headers = headers or COMPRESSED
        self.etag = ""

    def get(self, path: str, status: int = 200) -> bytes:
        """Return the response body as sent; RuntimeError for any other status."""
        self._connection.request("GET", path, headers=self._headers)
        response = self._connection.getresponse()
        body = response.read()
        if response.status != status:
            raise RuntimeError(f"{path}: {response.status} {body[:300]!r}")
        self.etag = response.headers.get("ETag", "")
        return body


class Page:
    """An open stream of map changes."""

    def __init__(self, address: str, path: str, version: str) -> None:
        self._connection, self._response = opened_stream(
            urlsplit(address).netloc, f"{path}/changes?since={version}", {"Accept": "text/event-stream"}, TIMEOUT_S
        )
        self._changed = threading.Event()
        self._at = 0
        threading.Thread(target=self._read, daemon=True).start()

    def after(self, action: Callable[[], object]) -> float:
        """Milliseconds from the end of an action to the next update."""
        self._changed.clear()
        action()
        done = time.perf_counter_ns()
        if not self._changed.wait(TIMEOUT_S):
            raise RuntimeError("the page got no update")
        return max(0.0, (self._at - done) / 1e6)

    def _read(self) -> None:
        while text := self._response.readline():
            if text.startswith(b"data:"):
                self._at = time.perf_counter_ns()
                self._changed.set()
