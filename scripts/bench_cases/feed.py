"""A page of twenty events from the public feed of a million, read over HTTP at places that nobody asked for before.

Every request has a cursor of its own, so that no cache can answer: this is the uncached path. The yardstick is a bare
Flask endpoint with the same SQL over the same tables behind the same kind of server, asked in turns with the feed; so
is a second server with a thousand events, for `growth`. Both are told a second time in processor time, which busy
neighbours change little: of the server with its worker, and of its database. Searches, filters and trending have cases
of their own.
"""

from __future__ import annotations

import http.client
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from scripts.measuring.bare_feed import BareFeed
from scripts.measuring.labour import in_words, labour, since
from scripts.measuring.many_events import SPAN, fill, settle
from scripts.measuring.measured_server import MeasuredServer, measured_server
from scripts.measuring.result import Figure, Result, at_most
from scripts.measuring.statistics import Spread, interleaved
from shared.clock import wall_clock
from sync_server.plumbing.shapes import iso
from sync_server.programme import cursors
from sync_server.programme.answers import Question
from sync_server.programme.cursors import Step

EVENTS = 1_000_000
QUICK_EVENTS = 20_000
FEW = 1_000
LIMIT = 20
WARM_UP = 60
FEWEST = 600  # pages whose labour is measured: fewer ticks than that say little
TURN = 50  # pages between two looks at the processor's clock, which ticks a hundred times a second
RATIO = at_most(2, "ratio")
GROWTH = at_most(1.5)
FILTERED = at_most(50, "p95")
#: Each narrows the feed in another way. Of a million events all have `act` and `hall`, 44,000 a word that begins with
#: `w12`, 4,400 one with `w123`, and 400 the word `w12` itself.
FILTERS: dict[str, dict[str, str]] = {
    "by city": {"city": "City 7"},
    "by small city": {"city": "City 477"},
    "by category": {"category": "Kind 3"},
    "by city and category": {"city": "City 7", "category": "Kind 3"},
    "by organiser": {"organisation": "house-77"},
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
    """Each database by itself, the large and the small house side by side."""
    for database in ("postgresql", "sqlite"):
        with ExitStack() as ends:
            yield from _cases(ends, database, quick=quick)


def _cases(ends: ExitStack, database: str, *, quick: bool) -> Iterator[Result]:
    count, rounds = (QUICK_EVENTS, 100) if quick else (EVENTS, 1_500)
    large, small = _served(ends, database, count), _served(ends, database, FEW)
    bare = BareFeed(large.server.place.folder, large.url)
    bare.start()
    ends.callback(bare.stop)
    asking = Line(bare.address)
    chance = random.Random(5)
    acts = [
        lambda: large.page(chance),
        lambda: asking.get("/?" + urlencode(large.bare_question(chance))),
        lambda: small.page(chance),
    ]
    interleaved(acts, WARM_UP)
    ours, theirs, few = (Spread.of(taken) for taken in interleaved(acts, rounds))
    name = f"{database} {count} events"
    yield Result("feed", name, Figure.of_spread(ours, "ms", theirs.p50), RATIO)
    yield Result("feed", f"{name} growth", Figure(value=ours.p95 / few.p95, unit="x", yardstick=few.p95), GROWTH)
    beside = {program: id for program, id in large.programs.items() if program == "database"}
    programs = [large.programs, {"bare endpoint": bare.pid} | beside, small.programs]
    mine, bares, fews = _labour([name, f"{name} bare", f"{database} {FEW} events"], acts, programs, max(rounds, FEWEST))
    figure = Figure(value=mine, unit="us", yardstick=bares, ratio=mine / bares)
    yield Result("feed", f"{name} processor", figure, RATIO)
    yield Result("feed", f"{name} processor growth", Figure(value=mine / fews, unit="x", yardstick=fews), GROWTH)
    for words, asked in FILTERS.items():
        act = _filtered(large, chance, asked)
        interleaved([act], WARM_UP // 4)
        before = labour(large.programs)
        (taken,) = interleaved([act], rounds // 10)
        _say(f"{name} {words}", in_words(since(before, large.programs), rounds // 10))
        yield Result("feed", f"{name} {words}", Figure.of_spread(Spread.of(taken), "ms"), FILTERED)


def _labour(
    names: Sequence[str], acts: Sequence[Callable[[], object]], programs: Sequence[Mapping[str, int]], rounds: int
) -> list[float]:
    """Microseconds of processor time of one act, of the programs that work for it; told by program as well."""
    spent: list[dict[str, float]] = [dict.fromkeys(its, 0.0) for its in programs]
    for _ in range(rounds // TURN):
        for act, its, sums in zip(acts, programs, spent, strict=True):
            before = labour(its)
            for _ in range(TURN):
                act()
            for program, seconds in since(before, its).items():
                sums[program] += seconds
    times = rounds // TURN * TURN
    for name, sums in zip(names, spent, strict=True):
        _say(name, in_words(sums, times))
    return [sum(sums.values()) / times * 1e6 for sums in spent]


def _say(name: str, words: str) -> None:
    print(f"{name}, µs of processor time a page: {words}", file=sys.stderr, flush=True)


def _filtered(house: House, chance: random.Random, asked: dict[str, str]) -> Callable[[], object]:
    """From any day on, so that no two questions are the same."""
    return lambda: house.line.get("/api/public/events?" + urlencode({**asked, "from": house.moment(chance)}))


@dataclass
class House:
    """A server with its events, and a line to it that stays open."""

    server: MeasuredServer
    begin: int
    line: Line
    url: str

    @property
    def programs(self) -> Mapping[str, int]:
        """What works for an answer, by its process id."""
        return self.server.programs

    def moment(self, chance: random.Random) -> str:
        """Any moment of the first nine tenths, as a question has it."""
        return iso(self.begin + chance.randrange(SPAN * 9 // 10))

    def page(self, chance: random.Random) -> None:
        """A page from the middle of somebody's walk."""
        step = Step(wall_clock(), 0, 0, self.begin + chance.randrange(SPAN * 9 // 10), chance.randrange(1 << 31))
        after = cursors.write(step, Question().text)
        self.line.get(f"/api/public/events?limit={LIMIT}&after={after}")

    def bare_question(self, chance: random.Random) -> dict[str, int]:
        """The same of the bare endpoint."""
        start = self.begin + chance.randrange(SPAN * 9 // 10)
        return {"now": wall_clock(), "start": start, "number": chance.randrange(1 << 31), "limit": LIMIT}


class Line:
    """A connection that is kept, as a proxy keeps it."""

    def __init__(self, address: str) -> None:
        self._line = http.client.HTTPConnection(urlsplit(address).netloc)

    def get(self, path: str) -> bytes:
        """The answer's body; anything but 200 ends the measurement."""
        self._line.request("GET", path)
        answer = self._line.getresponse()
        body = answer.read()
        if answer.status != 200 or b'"items":' not in body:
            raise RuntimeError(f"{path}: {answer.status} {body[:300]!r}")
        return body


def _served(ends: ExitStack, database: str, count: int) -> House:
    server = ends.enter_context(measured_server(database))
    begin = fill(server, count)
    settle(server)
    server.serve()
    return House(server, begin, Line(server.place.address), server.place.environment["GATEHOUSE_DATABASE_URL"])
