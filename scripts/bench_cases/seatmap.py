"""The map of a stadium of 60,000 seats over HTTP: whole, after a change, and from a change to an open page.

Two fifths of the seats are sold and one in twenty is held, here and there, which is the worst to pack. `first answer`
is the whole map as a page gets it that has nothing yet, from a server that was asked before; `cold` is the very first
one. The yardstick is a bare Flask endpoint that sends the same bytes ready-made, asked in turns. In `after a change`
a seat is held before every question, so that no answer was ready. `change to page` runs from the commit of a hold to
its arrival on an open stream.
"""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from urllib.parse import urlsplit

import orjson
import zstandard

from scripts.measuring import stadium_house
from scripts.measuring.bare_bytes import BareBytes
from scripts.measuring.measured_server import analyse, measured_server
from scripts.measuring.result import Figure, Result, at_most
from scripts.measuring.stadium_house import StadiumHouse
from scripts.measuring.statistics import Spread, interleaved, milliseconds
from sync_server.app import Ground

PACKED = {"Accept-Encoding": "gzip, deflate, br, zstd"}
FAST = at_most(50, "p95")
SECOND = at_most(1_000, "p95")
WARM_UP = 20
TELL_TIMEOUT_S = 30


def measure(*, quick: bool) -> Iterator[Result]:
    """PostgreSQL with several processes; SQLite as it is used out of the box."""
    for database in ("postgresql",) if quick else ("postgresql", "sqlite"):
        with ExitStack() as ends:
            yield from _cases(ends, database, quick=quick)


def _cases(ends: ExitStack, database: str, *, quick: bool) -> Iterator[Result]:
    server = ends.enter_context(measured_server(database))
    house = stadium_house.found(server)
    analyse(server)
    server.serve()
    name = "60000 seats" if database == "postgresql" else "sqlite 60000 seats"
    path = f"/api/events/{house.event_id}/seatmap"
    line = Line(server.place.address)
    cold = milliseconds(lambda: line.get(path))
    ready = line.get(path)
    yield Result("seatmap", f"{name} cold", Figure(value=cold, unit="ms"), at_most(5_000))
    bare = BareBytes(server.place.folder, ready)
    bare.start()
    ends.callback(bare.stop)
    asking = Line(bare.address)
    acts = [lambda: line.get(path), lambda: asking.get("/")]
    interleaved(acts, WARM_UP)
    ours, theirs = (Spread.of(taken) for taken in interleaved(acts, 150 if quick else 1_000))
    yield Result("seatmap", f"{name} first answer", Figure.of_spread(ours, "ms", theirs.p50), FAST)
    plain = Line(server.place.address, {"Accept-Encoding": "gzip"}).get(path)
    yield Result("seatmap", f"{name} kilobytes", Figure(value=len(ready) / 1000, unit="kB"), at_most(400))
    yield Result("seatmap", f"{name} kilobytes gzip", Figure(value=len(plain) / 1000, unit="kB"), at_most(400))
    if database == "postgresql":  # on SQLite one process writes: seats cannot be held from outside
        yield from _changing(ends, house, 20 if quick else 100)


def _changing(ends: ExitStack, house: StadiumHouse, rounds: int) -> Iterator[Result]:
    ground = ends.enter_context(house.server.ground())
    line, path = Line(house.server.place.address), f"/api/events/{house.event_id}/seatmap"
    page = Page(house.server.place.address, path, _version(line.get(path)))
    taken, arrived = [], []
    for seat in house.free[:rounds]:
        arrived.append(page.after(partial(_hold, ground, house, seat)))
        taken.append(milliseconds(lambda: line.get(path)))
    yield Result("seatmap", "60000 seats after a change", Figure.of_spread(Spread.of(taken), "ms"), FAST)
    yield Result("seatmap", "60000 seats change to page", Figure.of_spread(Spread.of(arrived), "ms"), SECOND)


def _hold(ground: Ground, house: StadiumHouse, seat: int) -> None:
    with ground.parts.database.writing() as session:
        house.hold(session, [seat])


def _version(packed: bytes) -> str:
    return str(orjson.loads(zstandard.ZstdDecompressor().decompressobj().decompress(packed))["state"]["version"])


class Line:
    """A connection that is kept, as a browser keeps it."""

    def __init__(self, address: str, headers: dict[str, str] | None = None) -> None:
        self._line = http.client.HTTPConnection(urlsplit(address).netloc)
        self._headers = headers or PACKED

    def get(self, path: str) -> bytes:
        """The answer as it is sent; anything but 200 ends the measurement."""
        self._line.request("GET", path, headers=self._headers)
        answer = self._line.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {body[:300]!r}")
        return body


class Page:
    """An open stream of changes."""

    def __init__(self, address: str, path: str, version: str) -> None:
        self._line = http.client.HTTPConnection(urlsplit(address).netloc, timeout=TELL_TIMEOUT_S)
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
        if not self._heard.wait(TELL_TIMEOUT_S):
            raise RuntimeError("the page heard nothing")
        return max(0.0, (self._at - done) / 1e6)

    def _read(self) -> None:
        while text := self._answer.readline():
            if text.startswith(b"data:"):
                self._at = time.perf_counter_ns()
                self._heard.set()
