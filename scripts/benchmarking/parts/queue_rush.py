"""A rush: 5,000 buyers for 2,000 tickets through a waiting room, and 100,000 replayed or stolen passes.

Everybody joins before the opening; then the order is drawn, and buyers come in the published order, forty at once,
each for four places: asked, admitted, pass, hold, order, free payment, over HTTP on PostgreSQL with two processes and
the worker. Whoever finds nothing left leaves. Counted are the tickets that exist, answers with a status of 500 or
more, pairs of buyers who were admitted against the published order, and passes that were accepted although they were
spent, of another browser or of another tab.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import cycle, islice, pairwise
from typing import Any

import orjson
import requests
from sqlalchemy import text

from scripts.benchmarking.clients import conversations
from scripts.benchmarking.clients.conversations import Conversation, Conversations
from scripts.benchmarking.clients.load_generator import generate_load, post
from scripts.benchmarking.result import Figure, Result, at_least, at_most, both
from scripts.benchmarking.rows import rows_venue
from scripts.benchmarking.rows.rows_venue import Guest
from scripts.benchmarking.servers.measured_server import MeasuredServer, analyse, measured_server
from shared.clock import wall_clock

FULL = (5_000, 2_000, 100_000, 150)
QUICK = (200, 80, 2_000, 25)
"""Buyers, tickets, passes, and seconds until the opening."""
PARTY = 4
AT_ONCE = 40
CLIENTS = 32
TIMEOUT_S = 60
BOUGHT, SOLD_OUT = "bought", "sold out"
STUCK_S = 60
"""A buyer whose turn is near and does not come for so long is stuck. How often he asks until then says nothing: alone
he asks more than 400 times in the second that the figures of a queue may be old."""


def queue_rush(*, quick: bool) -> Iterator[Result]:
    """One rush, and then the passes."""
    with ExitStack() as cleanup:
        rush = Rush(cleanup, *(QUICK if quick else FULL))
        rush.join()
        served = rush.serve()
        sold = Figure(value=rush.sold(), unit="tickets")
        exactly = both(at_least(rush.tickets), at_most(rush.tickets))
        yield Result("purchase", "queue rush sold", sold, exactly)
        yield Result(
            "purchase", "queue rush served per second", Figure(value=served.rate, unit="buyers/s"), at_least(1)
        )
        yield Result(
            "purchase", "queue rush order violations", Figure(value=rush.out_of_order(), unit="buyers"), at_most(0)
        )
        accepted = rush.present_passes()
        yield Result("purchase", "replayed passes accepted", Figure(value=accepted, unit="passes"), at_most(0))
        yield Result("purchase", "queue rush server errors", Figure(value=rush.errors, unit="answers"), at_most(0))


@dataclass
class Rush:
    """An event whose sale is about to begin, and everybody who wants its tickets."""

    cleanup: ExitStack
    buyers: int
    tickets: int
    passes: int
    seconds: int
    errors: int = 0
    spent: list[Guest] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Fill the tables, start the servers, and open the waiting room."""
        self.server: MeasuredServer = self.cleanup.enter_context(measured_server("postgresql"))
        self.venue = rows_venue.create_rows_venue(self.server, 20, places=self.tickets)
        self.guests = rows_venue.register_guests(self.server, self.venue, self.buyers)
        self.floor = rows_venue.zones(self.server, self.venue)["Floor"]
        analyse(self.server)
        self.server.serve()
        organiser, path = self.server.organiser, f"/api/events/{self.venue.event_id}"
        zones = {zone["name"]: zone["number"] for zone in organiser.get(f"{path}/zones")["items"]}
        organiser.post(
            f"{path}/ticket-types",
            {"name": "Floor", "price_cents": 0, "quantity": self.tickets, "zone": zones["Floor"]},
        )
        self.opening = wall_clock() + self.seconds * 1_000
        organiser.patch(path, {"sale_start_at": self.opening})
        organiser.put(f"{path}/checkout", {"sessions": AT_ONCE})
        organiser.put(f"{path}/queue", {"room_minutes": 30})
        self.shop = f"/api/o/{self.server.demo['organisation']['slug']}"
        self.queue = f"{self.shop}/events/{self.venue.event_id}/queue"

    def join(self) -> None:
        """Everybody joins the waiting room before the opening."""
        posts = [post(self.queue, b"{}", **guest.headers) for guest in self.guests]
        result = generate_load(self.server.layout.address, CLIENTS, lambda number: iter(posts[number::CLIENTS]))
        if set(result.statuses) != {201} or wall_clock() >= self.opening:
            raise RuntimeError(f"not everybody joined in time: {dict(result.statuses)}")
        print(f"{self.buyers} joined, {result.rate:.0f} a second", file=sys.stderr, flush=True)

    def serve(self) -> Conversations:
        """Wait for the draw, and let everybody come in the published order."""
        time.sleep(max(0.0, (self.opening - wall_clock()) / 1_000))
        order = iter(self._published())
        talks = [self._arrivals(order) for _ in range(AT_ONCE)]
        result = conversations.talk(self.server.layout.address, talks)
        print(f"endings: {dict(result.endings)}; answers: {dict(result.statuses)}", file=sys.stderr, flush=True)
        self.errors += sum(count for status, count in result.statuses.items() if status >= 500)
        if set(result.endings) - {BOUGHT, SOLD_OUT}:
            raise RuntimeError(f"not everybody was served: {dict(result.endings)}")
        return result

    def _arrivals(self, order: Iterator[Guest]) -> Iterator[Conversation]:
        """Each client lets in whoever is next in the published order."""
        return (self._visit(guest) for guest in order)

    def _published(self) -> list[Guest]:
        """The guests in the order of the file that everybody can download."""
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            answer = requests.get(f"{self.server.layout.address}{self.queue}/draw/entries", timeout=TIMEOUT_S)
            if answer.ok:
                entries = answer.text.split("\n")[1:-1]
                by_entry = self._guests_by_entry()
                return [by_entry[entry] for entry in entries]
            time.sleep(0.2)
        raise RuntimeError("the order was not drawn")

    def _guests_by_entry(self) -> dict[str, Guest]:
        by_id = {guest.id: guest for guest in self.guests}
        rows = self._rows("SELECT id, bearer_id FROM queue_entries WHERE event_id = :event")
        return {str(entry).replace("-", ""): by_id[str(bearer)] for entry, bearer in rows}

    def _visit(self, guest: Guest) -> Conversation:
        """One buyer: asks until it is the own turn, takes the pass, and buys."""
        refused = yield from wait_for_turn(self.queue, guest, time.monotonic)
        if refused:
            return refused
        status, body = yield post(f"{self.queue}/pass", orjson.dumps({"tab": _tab(guest)}), **guest.headers)
        if status != 200:
            return _said(status, body)
        return (yield from self._buy(guest))

    def _buy(self, guest: Guest) -> Conversation:
        headers = {**guest.headers, "X_Queue_Tab": _tab(guest)}
        status, body = yield self._hold(headers)
        if status == 409:
            yield _delete(self.queue, guest)
            return SOLD_OUT
        if status != 201:
            return _said(status, body)
        holds = [{"hold_id": each["hold_id"]} for each in orjson.loads(body)["data"]["holds"]]
        path = f"{self.shop}/events/{self.venue.event_id}/orders"
        status, body = yield post(path, orjson.dumps({"holds": holds}), **headers)
        if status != 201:
            return _said(status, body)
        pay = f"{self.shop}/orders/{orjson.loads(body)['id']}/pay"
        status, body = yield post(pay, b'{"method":"free"}', **headers)
        if status != 200:
            return _said(status, body)
        self.spent.append(guest)
        return BOUGHT

    def _hold(self, headers: dict[str, str]) -> bytes:
        wish = {"count": PARTY, "zone_id": self.floor}
        return post(f"/api/events/{self.venue.event_id}/holds", orjson.dumps(wish), **headers)

    def present_passes(self) -> int:
        """Passes that are spent, shown again; those of others, from the own browser; and the own from another tab."""
        others = self.guests[::-1]
        tries = cycle(
            attempt
            for guest, other in zip(cycle(self.spent), others, strict=False)
            for attempt in (
                {**guest.headers, "X_Queue_Tab": _tab(guest)},
                {**other.headers, "X_Queue_Tab": _tab(guest)},
                {**guest.headers, "X_Queue_Tab": "0b" * 16},
            )
        )
        posts = [self._hold(headers) for headers in islice(tries, self.passes)]
        result = generate_load(self.server.layout.address, CLIENTS, lambda number: iter(posts[number::CLIENTS]))
        self.errors += sum(count for status, count in result.statuses.items() if status >= 500)
        print(f"passes: {dict(result.statuses)}, {result.rate:.0f} a second", file=sys.stderr, flush=True)
        return sum(count for status, count in result.statuses.items() if status != 403)

    def sold(self) -> int:
        """How many tickets there are."""
        return int(self._rows("SELECT COUNT(*) FROM tickets WHERE event_id = :event")[0][0])

    def out_of_order(self) -> int:
        """Buyers who were admitted later than somebody behind them."""
        rows = self._rows(
            "SELECT admitted_at FROM queue_entries WHERE event_id = :event AND admitted_at IS NOT NULL ORDER BY seq"
        )
        times = [int(at) for (at,) in rows]
        return sum(later < earlier for earlier, later in pairwise(times))

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        with self.server.runtime() as runtime, runtime.parts.database.reading() as session:
            return [tuple(row) for row in session.execute(text(query), {"event": self.venue.event_id})]


def wait_for_turn(queue: str, guest: Guest, clock: Callable[[], float]) -> Conversation:
    """Ask until it is the guest's turn; why it never was, or nothing."""
    stuck_at = clock() + STUCK_S
    while True:
        status, body = yield _get(queue, guest)
        if status != 200:
            return _said(status, body)
        if orjson.loads(body)["state"] == "admitted":
            return ""
        if clock() >= stuck_at:
            return f"not admitted within {STUCK_S} s: {_said(status, body)}"


def _tab(guest: Guest) -> str:
    """The secret of the guest's tab."""
    return guest.id.replace("-", "")


def _get(path: str, guest: Guest) -> bytes:
    return post(path, b"", **guest.headers).replace(b"POST", b"GET", 1)


def _delete(path: str, guest: Guest) -> bytes:
    return post(path, b"", **guest.headers).replace(b"POST", b"DELETE", 1)


def _said(status: int, body: bytes) -> str:
    return f"{status} {body[:300].decode(errors='replace')}"
