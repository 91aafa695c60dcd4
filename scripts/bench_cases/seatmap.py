"""The map of a stadium of 60,000 seats over HTTP: whole, after a change, and on 200 pages while eight clients sell.

Two fifths of the seats are sold and one in twenty is held, here and there, which is the worst to pack. `first answer`
is the whole map as a page gets it that has nothing yet, from a server that was asked before. The yardstick is a bare
Flask endpoint that sends the same bytes ready-made, asked in turns. `at the start` is the very first answer of a
server that is just up; `house changed` the first after a seat was blocked: all of it is drawn anew. In `after a change`
a seat is held before every question, so that no answer was ready.

`while selling`: 100 pages by streams, 100 by long polls, and eight clients that hold seats of another house of 60,000
as fast as they can. From the answer to each hold it is taken until each page knows of it; at the end every page must
show what the table of seats says.
"""

from __future__ import annotations

import http.client
import os
import sys
import threading
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

import orjson
import zstandard
from sqlalchemy import text

from scripts.measuring import rows_house, stadium_house
from scripts.measuring.bare_bytes import BareBytes
from scripts.measuring.labour import in_words, labour, since
from scripts.measuring.map_pages import MapPage, MapPages
from scripts.measuring.measured_server import MeasuredServer, analyse, measured_server
from scripts.measuring.result import Figure, Goal, Result, at_least, at_most
from scripts.measuring.rows_house import SOLD_OF_A_ROW, Guest, RowsHouse
from scripts.measuring.stadium_house import StadiumHouse
from scripts.measuring.statistics import Spread, interleaved, milliseconds
from shared.clock import wall_clock
from sync_server.app import Ground
from sync_server.plumbing.principals import SYSTEM, Deed
from sync_server.seating import event_layouts, queries
from sync_server.seating.bitmap import unpack
from sync_server.seating.event_layouts import Chosen

PACKED = {"Accept-Encoding": "gzip, deflate, br, zstd"}
FAST = at_most(50, "p95")
SECOND = at_most(1_000, "p95")
DRAWN = at_most(5_000)
WARM_UP = 20
PATIENCE_S = 60
STREAMS = POLLS = 100
THREADS = "1024"
"""Of which organisers' pages may take 248, visitors' 124."""
CLIENTS = 8
GUESTS_SEATS = 10
IDLE_S = 0.05
"""Of processor time within a second."""


def measure(*, quick: bool) -> Iterator[Result]:
    """PostgreSQL with several processes; SQLite as it is used out of the box."""
    for database in ("postgresql", "sqlite"):
        with ExitStack() as ends:
            ends.enter_context(_threads(THREADS))
            yield from Stage(ends, database, quick=quick).results()


@contextmanager
def _threads(count: str) -> Iterator[None]:
    before = os.environ.get("GATEHOUSE_BLOCKING_THREADS")
    os.environ["GATEHOUSE_BLOCKING_THREADS"] = count
    try:
        yield
    finally:
        del os.environ["GATEHOUSE_BLOCKING_THREADS"]
        if before is not None:
            os.environ["GATEHOUSE_BLOCKING_THREADS"] = before


class Stage:
    """A server with a stadium that is partly sold, and with another house that is being sold."""

    def __init__(self, ends: ExitStack, database: str, *, quick: bool) -> None:
        """Fill first, serve then."""
        self.ends, self.database, self.quick = ends, database, quick
        self.server: MeasuredServer = ends.enter_context(measured_server(database))
        self.house: StadiumHouse = stadium_house.found(self.server)
        self.rows = rows_house.found(self.server, 54_000)
        self.holds = 800 if quick else 4_000
        self.guests = iter(rows_house.let_in(self.server, self.rows, 2 * (self.holds // GUESTS_SEATS + CLIENTS)))
        seats = self.rows.seats
        self.free = iter([seats[start : start + SOLD_OF_A_ROW] for start in range(0, len(seats), SOLD_OF_A_ROW)])
        analyse(self.server)

    def results(self) -> Iterator[Result]:
        """All cases of one database."""
        self.server.serve()
        yield from self._answers()
        yield from self._changes()
        yield from self._selling()

    def _result(self, case: str, figure: Figure, goal: Goal) -> Result:
        return Result("seatmap", f"{self.database} {case}", figure, goal)

    def _answers(self) -> Iterator[Result]:
        path = f"/api/events/{self.house.event_id}/seatmap"
        line = Line(self.server.place.address)
        yield self._result("at the start", Figure(value=milliseconds(lambda: line.get(path)), unit="ms"), DRAWN)
        self._until_drawn()
        self._say("the start, both houses drawn in each process", in_words(labour(self.server.programs), 1))
        ready = line.get(path)
        bare = BareBytes(self.server.place.folder, ready)
        bare.start()
        self.ends.callback(bare.stop)
        asking, rounds = Line(bare.address), 150 if self.quick else 1_000
        acts = [lambda: line.get(path), lambda: asking.get("/")]
        interleaved(acts, WARM_UP)
        programs = self.server.programs | {"bare endpoint": bare.pid}
        before = labour(programs)
        ours, theirs = (Spread.of(taken) for taken in interleaved(acts, rounds))
        self._say("an answer", in_words(since(before, programs), rounds))
        yield self._result("first answer", Figure.of_spread(ours, "ms", theirs.p50), FAST)
        known = Line(self.server.place.address, PACKED | {"If-None-Match": line.etag})
        unchanged = Spread.of([milliseconds(lambda: known.get(path, 304)) for _ in range(rounds)])
        yield self._result("nothing new (304)", Figure.of_spread(unchanged, "ms", theirs.p50), FAST)
        plain = Line(self.server.place.address, {"Accept-Encoding": "gzip"}).get(path)
        yield self._result("kilobytes", Figure(value=len(ready) / 1000, unit="kB"), at_most(400))
        yield self._result("kilobytes gzip", Figure(value=len(plain) / 1000, unit="kB"), at_most(400))

    def _until_drawn(self) -> None:
        """Every process draws both houses at its start: that is no part of an answer."""
        server = {"server": self.server.programs["server"]}
        for _ in range(PATIENCE_S):
            before = labour(server)
            time.sleep(1)
            if since(before, server)["server"] < IDLE_S:
                return

    def _changes(self) -> Iterator[Result]:
        """By a process of its own: on SQLite two may write, though only one does in life."""
        ground = self.ends.enter_context(self.server.ground())
        line, path = Line(self.server.place.address), f"/api/events/{self.house.event_id}/seatmap"
        page = Page(self.server.place.address, path, _state(line.get(path))["version"])
        taken, arrived = [], []
        for seat in self.house.free[: 20 if self.quick else 100]:
            arrived.append(page.after(partial(_hold, ground, self.house, seat)))
            taken.append(milliseconds(lambda: line.get(path)))
        yield self._result("after a change", Figure.of_spread(Spread.of(taken), "ms"), FAST)
        yield self._result("change to page", Figure.of_spread(Spread.of(arrived), "ms"), SECOND)
        _block(ground, self.house, self.house.free[-1])
        yield self._result("house changed", Figure(value=milliseconds(lambda: line.get(path)), unit="ms"), DRAWN)

    def _selling(self) -> Iterator[Result]:
        alone = self._sell("nobody watches")
        path = f"/api/events/{self.rows.event_id}/seatmap"
        address, token = self.server.place.address, self.server.made["api_token"]
        signed_in = PACKED | {"Authorization": f"Bearer {token}"}
        organisers = [_page(Line(address, signed_in).get(path)) for _ in range(STREAMS)]
        everybody = [_page(Line(address).get(path)) for _ in range(POLLS)]
        pages = MapPages(address, path, token, organisers, everybody)
        pages.open()
        watched = self._sell("200 pages watch")
        self._settle(pages, watched)
        late = [
            (page.heard[seat] - at) * 1000 for page in pages for seat, at in watched.at.items() if seat in page.heard
        ]
        pages.close()
        away, again, answers = (
            sum(getattr(page, what) for page in pages) for what in ("sent_away", "came_again", "answers")
        )
        self._say("pages", f"{answers} answers, {away} times sent away, {again} streams taken up again")
        spread = Spread.of([max(0.0, each) for each in late])
        yield self._result("while selling, hold to page", Figure.of_spread(spread, "ms"), SECOND)
        yield self._result("pages that are wrong", Figure(value=self._wrong(pages), unit="pages"), at_most(0))
        rates = Figure(value=watched.rate, unit="holds/s", yardstick=alone.rate, ratio=watched.rate / alone.rate)
        yield self._result("holds while 200 pages watch", rates, at_least(0))

    def _sell(self, case: str) -> Sold:
        before = labour(self.server.programs)
        sold = sell(self.server.place.address, self.rows, [self._errands() for _ in range(CLIENTS)])
        self._say(f"a hold, {case}", in_words(since(before, self.server.programs), len(sold.at)))
        return sold

    def _errands(self) -> list[tuple[Guest, str, int]]:
        """What one client does: rows of its own from the left, a guest for every ten seats."""
        count = self.holds // CLIENTS
        seats = [seat for row in islice(self.free, -(-count // SOLD_OF_A_ROW)) for seat in row][:count]
        guests = [next(self.guests) for _ in range(-(-count // GUESTS_SEATS))]
        return [(guests[turn // GUESTS_SEATS], id, number) for turn, (id, number) in enumerate(seats)]

    def _settle(self, pages: MapPages, sold: Sold) -> None:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until and any(not sold.at.keys() <= page.heard.keys() for page in pages):
            time.sleep(0.2)

    def _wrong(self, pages: MapPages) -> int:
        """How many pages show another house than the table of seats has: held is taken to those who buy."""
        with self.server.ground() as ground, ground.parts.database.reading() as session:
            query = text(
                "SELECT seat, state FROM event_seats "
                "WHERE event_id = :event AND (state = 2 OR (state = 1 AND held_until > :now))"
            )
            found = session.execute(query, {"event": self.rows.event_id, "now": wall_clock()})
            rows: dict[int, int] = {row.seat: row.state for row in found}
        first, count = pages.polls[0].first, len(pages.polls[0].seats)
        organisers = bytes(rows.get(seat, 0) for seat in range(first, first + count))
        everybody = bytes(2 if state else 0 for state in organisers)
        wrong = [bytes(page.seats) != organisers for page in pages.streams]
        return sum(wrong) + sum(bytes(page.seats) != everybody for page in pages.polls)

    def _say(self, what: str, words: str) -> None:
        """Times change with whatever else the machine does; what is worked for an answer hardly does."""
        print(f"{self.database}, µs of processor time for {what}: {words}", file=sys.stderr, flush=True)


@dataclass
class Sold:
    """When each hold was answered, by the seat's number."""

    at: dict[int, float]
    seconds: float

    @property
    def rate(self) -> float:
        """Holds a second."""
        return len(self.at) / self.seconds


def sell(address: str, house: RowsHouse, errands: list[list[tuple[Guest, str, int]]]) -> Sold:
    """Clients that hold seat after seat, each as fast as it is answered."""
    at: dict[int, float] = {}
    trouble: list[str] = []

    def run(some: list[tuple[Guest, str, int]]) -> None:
        line = http.client.HTTPConnection(urlsplit(address).netloc)
        for guest, seat, number in some:
            path = f"/api/events/{house.event_id}/seats/{seat}/reserve"
            named = {name.replace("_", "-"): value for name, value in guest.headers.items()}
            line.request("POST", path, b'{"source":"web"}', named | {"Content-Type": "application/json"})
            answer = line.getresponse()
            told = answer.read()
            if answer.status != 201:
                trouble.append(f"{answer.status} {told[:300]!r}")
                return
            at[number] = time.perf_counter()

    threads = [threading.Thread(target=run, args=(some,)) for some in errands]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if trouble:
        raise RuntimeError(f"not every free seat could be held: {trouble[0]}")
    return Sold(at, time.perf_counter() - begun)


def _hold(ground: Ground, house: StadiumHouse, seat: int) -> None:
    with ground.parts.database.writing() as session:
        house.hold(session, [seat])


def _block(ground: Ground, house: StadiumHouse, seat: int) -> None:
    """As an organiser does."""
    organisation = house.server.made["organisation"]["id"]
    with ground.parts.database.writing() as session:
        row = queries.event_layout(session, organisation, house.event_id)
        (name,) = queries.seat_names(session, row.layout_id, [seat])
        chosen = Chosen(row.layout_id, blocked_seats=(name,))
        event_layouts.choose(session, organisation, house.event_id, chosen, Deed(SYSTEM, wall_clock(), os.urandom))


def _state(packed: bytes) -> dict[str, Any]:
    words = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
    return dict(orjson.loads(words)["state"])


def _page(packed: bytes) -> MapPage:
    state = _state(packed)
    return MapPage(state["version"], bytearray(unpack(b64decode(state["seats"]), state["count"])), state["first"])


class Line:
    """A connection that is kept, as a browser keeps it."""

    def __init__(self, address: str, headers: dict[str, str] | None = None) -> None:
        self._line = http.client.HTTPConnection(urlsplit(address).netloc)
        self._headers = headers or PACKED
        self.etag = ""

    def get(self, path: str, status: int = 200) -> bytes:
        """The answer as it is sent; any other status ends the measurement."""
        self._line.request("GET", path, headers=self._headers)
        answer = self._line.getresponse()
        body = answer.read()
        if answer.status != status:
            raise RuntimeError(f"{path}: {answer.status} {body[:300]!r}")
        self.etag = answer.headers.get("ETag", "")
        return body


class Page:
    """An open stream of changes."""

    def __init__(self, address: str, path: str, version: str) -> None:
        self._line = http.client.HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE_S)
        self._line.request("GET", f"{path}/changes?since={version}", headers={"Accept": "text/event-stream"})
        self._answer = self._line.getresponse()
        self._heard = threading.Event()
        self._at = 0
        threading.Thread(target=self._read, daemon=True).start()

    def after(self, act: Callable[[], object]) -> float:
        """Milliseconds from the end of an act to the next news."""
        self._heard.clear()
        act()
        done = time.perf_counter_ns()
        if not self._heard.wait(PATIENCE_S):
            raise RuntimeError("the page heard nothing")
        return max(0.0, (self._at - done) / 1e6)

    def _read(self) -> None:
        while text := self._answer.readline():
            if text.startswith(b"data:"):
                self._at = time.perf_counter_ns()
                self._heard.set()
