"""A page of twenty events from the public feed of a million, read over HTTP with cursors never used before.

Every request has its own cursor, so no cache can serve it: this is the uncached path. The yardstick is a bare Flask
endpoint with the same SQL over the same tables behind the same WSGI server, run alternately with the feed; so is a
second server with a thousand events, for `growth`. Both comparisons are repeated in CPU time of the server with its
worker and of its database, which other load on the machine hardly changes. Searches, filters and trending have their
own cases.
"""

from __future__ import annotations

import http.client
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from scripts.benchmarking.meters.cpu_time import cpu_seconds, cpu_seconds_since, describe_cpu
from scripts.benchmarking.result import Figure, Result, at_most
from scripts.benchmarking.rows.many_events import SPAN, fill, settle
from scripts.benchmarking.servers.measured_server import MeasuredServer, measured_server
from scripts.benchmarking.statistics import Spread, interleaved
from scripts.benchmarking.yardsticks.bare_feed import BareFeed
from shared.clock import wall_clock
from sync_server.listings import cursors
from sync_server.listings.cursors import Position
from sync_server.listings.responses import FeedCriteria
from sync_server.plumbing.api.schemas import iso

EVENTS = 1_000_000
QUICK_EVENTS = 20_000
SMALL_EVENTS = 1_000
LIMIT = 20
WARM_UP = 60
MIN_PAGES = 600  # pages whose CPU time is measured: fewer would give too few clock ticks
CHUNK = 50  # pages between two readings of the CPU clock, which ticks a hundred times a second
RATIO = at_most(2, "ratio")
GROWTH = at_most(1.5)
FILTERED = at_most(50, "p95")
#: Each filters the feed in another way. Of a million events all have `act` and `hall`, 44,000 a word that begins
#: with `w12`, 4,400 one with `w123`, and 400 the word `w12` itself.
FILTERS: dict[str, dict[str, str]] = {
    "by city": {"city": "City 7"},
    "by small city": {"city": "City 477"},
    "by category": {"category": "Kind 3"},
    "by city and category": {"city": "City 7", "category": "Kind 3"},
    "by organiser": {"organisation": "org-77"},
    "search common word": {"q": "act"},
    "search common beginning": {"q": "hal"},
    "search common word in a category": {"q": "hall", "category": "Kind 3"},
    "search common word in a small city": {"q": "hall", "city": "City 477"},
    "search rare word": {"q": "w123"},
    "search beginning in a city": {"q": "w12", "city": "City 7"},
    "search two words": {"q": "w12 hall"},
    "search two words in a city": {"q": "w12 hall", "city": "City 7"},
    "search two words, the other way": {"q": "hall w123", "city": "City 7"},
    "search two words that never meet": {"q": "k3 k4"},
    "trending": {"sort": "trending"},
}


def measure(*, quick: bool) -> Iterator[Result]:
    """Each database in turn, with a large and a small server side by side."""
    for database in ("postgresql", "sqlite"):
        with ExitStack() as cleanup:
            yield from _cases(cleanup, database, quick=quick)


def _cases(cleanup: ExitStack, database: str, *, quick: bool) -> Iterator[Result]:
    count, rounds = (QUICK_EVENTS, 100) if quick else (EVENTS, 1_500)
    large, small = _start_filled(cleanup, database, count), _start_filled(cleanup, database, SMALL_EVENTS)
    bare = BareFeed(large.server.layout.folder, large.url)
    bare.start()
    cleanup.callback(bare.stop)
    bare_connection = Connection(bare.address)
    random_source = random.Random(5)
    actions = [
        lambda: large.page(random_source),
        lambda: bare_connection.get("/?" + urlencode(large.bare_parameters(random_source))),
        lambda: small.page(random_source),
    ]
    interleaved(actions, WARM_UP)
    spread, bare_spread, small_spread = (Spread.of(taken) for taken in interleaved(actions, rounds))
    name = f"{database} {count} events"
    yield Result("feed", name, Figure.of_spread(spread, "ms", bare_spread.p50), RATIO)
    growth = Figure(value=spread.p95 / small_spread.p95, unit="x", yardstick=small_spread.p95)
    yield Result("feed", f"{name} growth", growth, GROWTH)
    database_programs = {program: id for program, id in large.programs.items() if program == "database"}
    programs = [large.programs, {"bare endpoint": bare.pid} | database_programs, small.programs]
    names = [name, f"{name} bare", f"{database} {SMALL_EVENTS} events"]
    cpu, bare_cpu, small_cpu = _cpu_micros(names, actions, programs, max(rounds, MIN_PAGES))
    figure = Figure(value=cpu, unit="us", yardstick=bare_cpu, ratio=cpu / bare_cpu)
    yield Result("feed", f"{name} processor", figure, RATIO)
    yield Result(
        "feed", f"{name} processor growth", Figure(value=cpu / small_cpu, unit="x", yardstick=small_cpu), GROWTH
    )
    for case, parameters in FILTERS.items():
        action = _filtered(large, random_source, parameters)
        interleaved([action], WARM_UP // 4)
        before = cpu_seconds(large.programs)
        (taken,) = interleaved([action], rounds // 10)
        _print_cpu(f"{name} {case}", describe_cpu(cpu_seconds_since(before, large.programs), rounds // 10))
        yield Result("feed", f"{name} {case}", Figure.of_spread(Spread.of(taken), "ms"), FILTERED)


def _cpu_micros(
    names: Sequence[str], actions: Sequence[Callable[[], object]], programs: Sequence[Mapping[str, int]], rounds: int
) -> list[float]:
    """Microseconds of CPU time of one action, over all programs involved; prints them by program as well."""
    used: list[dict[str, float]] = [dict.fromkeys(pids, 0.0) for pids in programs]
    for _ in range(rounds // CHUNK):
        for action, pids, sums in zip(actions, programs, used, strict=True):
            before = cpu_seconds(pids)
            for _ in range(CHUNK):
                action()
            for program, seconds in cpu_seconds_since(before, pids).items():
                sums[program] += seconds
    operations = rounds // CHUNK * CHUNK
    for name, sums in zip(names, used, strict=True):
        _print_cpu(name, describe_cpu(sums, operations))
    return [sum(sums.values()) / operations * 1e6 for sums in used]


def _print_cpu(name: str, text: str) -> None:
    print(f"{name}, µs of CPU time per page: {text}", file=sys.stderr, flush=True)


def _filtered(filled: FilledServer, random_source: random.Random, parameters: dict[str, str]) -> Callable[[], object]:
    """Request events from a random day on, so that no two requests are the same."""
    return lambda: filled.connection.get(
        "/api/public/events?" + urlencode({**parameters, "from": filled.moment(random_source)})
    )


@dataclass
class FilledServer:
    """A server with its events and an open connection to it."""

    server: MeasuredServer
    begin: int
    connection: Connection
    url: str

    @property
    def programs(self) -> Mapping[str, int]:
        """The process ids of the programs that serve a page."""
        return self.server.programs

    def moment(self, random_source: random.Random) -> str:
        """A random time in the first nine tenths of the period, as a query parameter."""
        return iso(self.begin + random_source.randrange(SPAN * 9 // 10))

    def page(self, random_source: random.Random) -> None:
        """Read a page from the middle of the feed."""
        position = Position(
            wall_clock(), 0, 0, self.begin + random_source.randrange(SPAN * 9 // 10), random_source.randrange(1 << 31)
        )
        after = cursors.encode(position, FeedCriteria().text)
        self.connection.get(f"/api/public/events?limit={LIMIT}&after={after}")

    def bare_parameters(self, random_source: random.Random) -> dict[str, int]:
        """The parameters of the same page at the bare endpoint."""
        start = self.begin + random_source.randrange(SPAN * 9 // 10)
        return {"now": wall_clock(), "start": start, "number": random_source.randrange(1 << 31), "limit": LIMIT}


class Connection:
    """A connection that stays open, as a proxy's does."""

    def __init__(self, address: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(address).netloc)

    def get(self, path: str) -> bytes:
        """Return the response body; RuntimeError for any status but 200."""
        self._connection.request("GET", path)
        response = self._connection.getresponse()
        body = response.read()
        if response.status != 200 or b'"items":' not in body:
            raise RuntimeError(f"{path}: {response.status} {body[:300]!r}")
        return body


def _start_filled(cleanup: ExitStack, database: str, count: int) -> FilledServer:
    server = cleanup.enter_context(measured_server(database))
    begin = fill(server, count)
    settle(server)
    server.serve()
    return FilledServer(
        server, begin, Connection(server.layout.address), server.layout.environment["GATEHOUSE_DATABASE_URL"]
    )
