"""Tickets bought over HTTP: four seats held, ordered and paid, with signed tickets in the last answer; and the queue.

Each purchase is two requests of another guest: a hold, and an order (which enters the checkout) with its free payment,
on PostgreSQL with two processes and the worker. `in three requests` pays in a request of its own, as every other way of
paying does. `8 clients` buys seats of their own, one purchase after another. In `40 buyers one block` all name the same
four seats at once; whoever is told that they are taken names others, and buys those. In `30 buyers beside 10 snipers`
ten others buy places of one free type, again and again, while thirty buy seats of their own. The yardstick is a bare
endpoint that writes the rows of one purchase again in one statement, in one request. Nothing is measured before the
worker has loaded its program. `pdf and mail backlog drain` stops the worker while buyers order who have an address, and
lets it go on: each mail carries the four tickets as PDF. `queue rush` and `replayed passes` are described in
scripts/benchmarking/parts/queue_rush.py.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count, islice

import orjson
from flask.testing import FlaskClient

from scripts.benchmarking.clients import conversations
from scripts.benchmarking.clients.conversations import Conversation, Conversations
from scripts.benchmarking.clients.load_generator import post
from scripts.benchmarking.meters.cpu_time import cpu_seconds, cpu_seconds_since, describe_cpu
from scripts.benchmarking.parts.queue_rush import queue_rush
from scripts.benchmarking.result import Figure, Result, at_least, at_most, both
from scripts.benchmarking.rows import rows_venue
from scripts.benchmarking.rows.rows_venue import Guest
from scripts.benchmarking.servers.mail_sink import MailSink
from scripts.benchmarking.servers.measured_server import POSTGRES_PROCESSES, MeasuredServer, analyse, measured_server
from scripts.benchmarking.statistics import Spread, percentile
from scripts.benchmarking.yardsticks import bare_purchase
from scripts.benchmarking.yardsticks.bare_purchase import BarePurchase
from scripts.local_stack.layout import ROOT
from sync_server.app import web_app
from sync_server.queueing import draw

CLIENTS, TICKETS = 8, 4
RACERS, BUYERS, SNIPERS = 40, 30, 10
SNIPED = 8
"""Purchases of each sniper."""
CHECKOUT = 1_000
FREE = {"name": "Free", "price_cents": 0, "max_per_order": 10}
VERIFY_DRAW, DRAWN = ROOT / "scripts/verify_draw.py", 1_000_000
ADDRESS = "buyer@bench.example"
BOUGHT, TAKEN = "bought", "taken"


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure the server and the bare endpoint alternately, then the two races."""
    with ExitStack() as cleanup:
        benchmark = Benchmark(cleanup, quick=quick)
        yield benchmark.steady()
        yield benchmark.three_requests()
        yield benchmark.one_block()
        yield from benchmark.snipers()
        yield benchmark.backlog()
        yield Result("purchase", "oversold", Figure(value=benchmark.oversold(), unit="seats"), at_most(0))
    yield from queue_rush(quick=quick)
    yield _recomputed_draw()


def _recomputed_draw() -> Result:
    """A guest recomputes the published order of a million others, with nothing but the script and the file."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.writelines(_published_draw())
        file.flush()
        started = time.perf_counter()
        subprocess.run([sys.executable, "-I", str(VERIFY_DRAW), file.name], check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - started
    return Result("purchase", f"draw {DRAWN} entries", Figure(value=seconds, unit="s"), at_most(5))


def _published_draw() -> Iterator[str]:
    entries, seed = [os.urandom(16) for _ in range(DRAWN)], os.urandom(draw.SEED_BYTES)
    root = draw.Tree(sorted(entries)).root
    told = {"seed": seed.hex(), "commitment": draw.commitment(seed).hex(), "root": root.hex()}
    yield json.dumps(told | {"beacon": None, "entries": DRAWN}) + "\n"
    yield from (f"{entry.hex()}\n" for entry in draw.order(entries, seed, root, ""))


class Benchmark:
    """A server with an event whose seats and floor are free of charge, and the bare endpoint."""

    def __init__(self, cleanup: ExitStack, *, quick: bool) -> None:
        """Fill the tables, record what one purchase writes, then start the servers."""
        self.rounds, self.purchases = (3, 160) if quick else (5, 400)
        self.races, self.mails = (2, 40) if quick else (5, 200)
        self.sink = MailSink()
        self.sink.start()
        cleanup.callback(self.sink.stop)
        self.server: MeasuredServer = cleanup.enter_context(measured_server("postgresql", mail_url=self.sink.url))
        buyers = (self.rounds + 2) * self.purchases + self.races * (2 * RACERS + BUYERS) + self.mails + 50
        self.venue = rows_venue.create_rows_venue(
            self.server, (buyers + 20) * 5, places=self.races * SNIPERS * SNIPED * TICKETS + 100
        )
        self.seats = self._blocks()
        guests = buyers + self.races * SNIPERS * SNIPED + 50
        self.guests = iter(rows_venue.register_guests(self.server, self.venue, guests))
        url = self.server.layout.environment["GATEHOUSE_DATABASE_URL"]
        self.zones: dict[str, str] = {}
        self.at_once = True  # whether an order is paid in the same request
        written = self._one_purchase(url)
        print(f"a purchase writes {written.count} rows in {len(written.rows)} tables", file=sys.stderr)
        analyse(self.server)
        self.server.serve()
        self.server.until_idle()
        self.bare = BarePurchase(self.server.layout.folder, url, written, POSTGRES_PROCESSES)
        self.bare.start()
        cleanup.callback(self.bare.stop)
        self.numbers = count(1)

    def _blocks(self) -> Iterator[list[str]]:
        """Four neighbours each, so that nobody leaves a single seat."""
        ids, width = [id for id, _ in self.venue.seats], rows_venue.SOLD_OF_A_ROW
        rows = (ids[start : start + width] for start in range(0, len(ids), width))
        return (row[at : at + TICKETS] for row in rows for at in range(0, width - TICKETS + 1, TICKETS))

    def _one_purchase(self, url: str) -> bare_purchase.WrittenRows:
        """Set the sale up, and buy once without worker and processes, to see which rows that writes."""
        with self.server.runtime() as runtime:
            client = web_app(runtime).test_client()
            staff = {"Authorization": f"Bearer {self.server.demo['api_token']}"}
            path = f"/api/events/{self.venue.event_id}"
            for zone in client.get(f"{path}/zones", headers=staff).get_json()["items"]:
                body = FREE | {"name": zone["name"], "quantity": 20_000, "zone": zone["number"]}
                made = client.post(f"{path}/ticket-types", json=body, headers=staff)
                if made.status_code != 201:
                    raise RuntimeError(made.get_data(as_text=True))
            self.zones = rows_venue.zones(self.server, self.venue)
            client.put(f"{path}/checkout", json={"sessions": CHECKOUT}, headers=staff)
            talks = [self._purchase(next(self.guests), next(self.seats)) for _ in range(2)]
            for number, talk in enumerate(talks):
                since = bare_purchase.marker(url) if number else 0
                ending = _in_process(client, talk)
                if ending != BOUGHT:
                    raise RuntimeError(ending)
            return bare_purchase.record(url, since)

    def steady(self) -> Result:
        """Purchase after purchase, and the same number of rows by the bare endpoint."""
        self._buy(self.purchases // 2)
        self._bare(self.purchases // 2)
        ours, bare = [], []
        for _ in range(self.rounds):
            before = cpu_seconds(self.server.programs)
            ours.append(self._buy(self.purchases))
            self.server.until_relayed()
            used = describe_cpu(cpu_seconds_since(before, self.server.programs), self.purchases)
            print(f"µs of CPU time per purchase: {used}", file=sys.stderr, flush=True)
            bare.append(self._bare(self.purchases))
        rate, bare_rate = (percentile([each.rate for each in some], 0.5) for some in (ours, bare))
        figure = _spread([millis for each in ours for millis in each.millis], rate, "purchases/s")
        figure = _with_yardstick(figure, bare_rate, rate / bare_rate)
        goal = both(at_least(100), at_most(300, "p95"))
        return Result("purchase", f"postgresql {TICKETS} tickets {CLIENTS} clients", figure, goal)

    def three_requests(self) -> Result:
        """The payment in a request of its own."""
        before, self.at_once = cpu_seconds(self.server.programs), False
        found = self._buy(self.purchases)
        used = describe_cpu(cpu_seconds_since(before, self.server.programs), self.purchases)
        print(f"µs of CPU time per purchase in three requests: {used}", file=sys.stderr, flush=True)
        self.at_once = True
        figure = _spread(found.millis, found.rate, "purchases/s")
        case = f"postgresql {TICKETS} tickets {CLIENTS} clients in three requests"
        return Result("purchase", case, figure, both(at_least(100), at_most(300, "p95")))

    def backlog(self) -> Result:
        """Buyers with an address while the worker stands still; then how fast it mails them their tickets."""
        worker = self.server.programs["worker"]
        os.kill(worker, signal.SIGSTOP)
        try:
            talks = [iter([self._purchase(next(self.guests), next(self.seats), ADDRESS)]) for _ in range(self.mails)]
            for start in range(0, len(talks), CLIENTS):
                some = talks[start : start + CLIENTS]
                _all(conversations.talk(self.server.layout.address, some), {BOUGHT: len(some)})
            before = cpu_seconds(self.server.programs)
        finally:
            os.kill(worker, signal.SIGCONT)
        seconds = self.sink.wait_for(self.mails, at_most_s=self.mails)
        used = describe_cpu(cpu_seconds_since(before, self.server.programs), self.mails)
        print(f"µs of CPU time per mail, {self.sink.megabytes:.1f} MB: {used}", file=sys.stderr, flush=True)
        figure = Figure(value=self.mails / seconds, unit="mails/s")
        return Result("purchase", "pdf and mail backlog drain", figure, at_least(10))

    def one_block(self) -> Result:
        """Everybody wants the same four seats, and then others."""
        millis: list[float] = []
        for _ in range(self.races):
            wanted = next(self.seats)
            talks = [iter([self._second_choice(next(self.guests), wanted)]) for _ in range(RACERS)]
            millis += _all(conversations.talk(self.server.layout.address, talks), {BOUGHT: RACERS}).millis
        figure = _spread(millis, percentile(millis, 0.95), "ms")
        return Result("purchase", f"{RACERS} buyers one block", figure, at_most(600, "p95"))

    def snipers(self) -> Iterator[Result]:
        """Buyers of seats beside those who buy one free type as fast as they can."""
        seats: list[float] = []
        places: list[float] = []
        for _ in range(self.races):
            buyers = [
                iter([self._timed(self._purchase(next(self.guests), next(self.seats)), seats)]) for _ in range(BUYERS)
            ]
            snipers = [
                iter([self._timed(self._places(next(self.guests)), places) for _ in range(SNIPED)])
                for _ in range(SNIPERS)
            ]
            expected = BUYERS + SNIPERS * SNIPED
            _all(conversations.talk(self.server.layout.address, [*buyers, *snipers]), {BOUGHT: expected})
        for who, millis in ((f"{BUYERS} buyers beside {SNIPERS} snipers", seats), (f"{SNIPERS} snipers", places)):
            figure = _spread(millis, percentile(millis, 0.95), "ms")
            yield Result("purchase", who, figure, at_most(600, "p95"))

    def oversold(self) -> int:
        """Seats with two tickets."""
        query = (
            "SELECT COUNT(*) FROM (SELECT seat FROM tickets WHERE event_id = :event AND seat <> 0 "
            "GROUP BY seat HAVING COUNT(*) > 1) AS doubled"
        )
        return rows_venue.counted(self.server, query, self.venue.event_id)

    def _buy(self, purchases: int) -> Conversations:
        talks = [
            iter([self._purchase(next(self.guests), next(self.seats)) for _ in range(purchases // CLIENTS)])
            for _ in range(CLIENTS)
        ]
        return _all(conversations.talk(self.server.layout.address, talks), {BOUGHT: purchases})

    def _bare(self, purchases: int) -> Conversations:
        talks = [iter([_once(number) for number in islice(self.numbers, purchases // CLIENTS)]) for _ in range(CLIENTS)]
        return _all(conversations.talk(self.bare.address, talks), {BOUGHT: purchases})

    def _purchase(self, guest: Guest, seats: list[str], email: str | None = None) -> Conversation:
        status, body = yield self._hold(guest, {"seat_ids": seats})
        return (yield from self._order(guest, body, email)) if status == 201 else _said(status, body)

    def _second_choice(self, guest: Guest, seats: list[str]) -> Conversation:
        status, body = yield self._hold(guest, {"seat_ids": seats})
        if status == 409:
            return (yield from self._purchase(guest, next(self.seats)))
        return (yield from self._order(guest, body)) if status == 201 else _said(status, body)

    def _places(self, guest: Guest) -> Conversation:
        status, body = yield self._hold(guest, {"count": TICKETS, "zone_id": self.zones["Floor"]})
        return (yield from self._order(guest, body)) if status == 201 else _said(status, body)

    def _order(self, guest: Guest, held: bytes, email: str | None = None) -> Conversation:
        """Order what is held, and pay it: nothing."""
        holds = [{"hold_id": each["hold_id"]} for each in orjson.loads(held)["data"]["holds"]]
        slug = self.server.demo["organisation"]["slug"]
        orders, free = f"/api/o/{slug}/events/{self.venue.event_id}/orders", {"method": "free"}
        wish = (
            {"holds": holds} | ({"buyer": {"email": email}} if email else {}) | ({"pay": free} if self.at_once else {})
        )
        status, body = yield post(orders, orjson.dumps(wish), **guest.headers)
        if status == 201 and not self.at_once:
            pay = f"/api/o/{slug}/orders/{orjson.loads(body)['id']}/pay"
            status, body = yield post(pay, orjson.dumps(free), **guest.headers)
        lines = orjson.loads(body)["lines"] if status in {200, 201} else []
        return BOUGHT if lines and all(line["ticket"] for line in lines) else _said(status, body)

    def _hold(self, guest: Guest, wish: dict[str, object]) -> bytes:
        return post(f"/api/events/{self.venue.event_id}/holds", orjson.dumps(wish), **guest.headers)

    @staticmethod
    def _timed(talk: Conversation, millis: list[float]) -> Conversation:
        return conversations.timed(talk, millis)


def _once(number: int) -> Conversation:
    status, body = yield post("/purchase", orjson.dumps({"number": number}))
    return BOUGHT if status == 201 else _said(status, body)


def _in_process(client: FlaskClient, talk: Conversation) -> str:
    """Have a conversation with an application in this process."""
    request = next(talk)
    while True:
        try:
            request = talk.send(conversations.asked(client, request))
        except StopIteration as end:
            return str(end.value)


def _said(status: int, body: bytes) -> str:
    return f"{status} {body[:500].decode(errors='replace')}"


def _all(result: Conversations, endings: dict[str, int]) -> Conversations:
    if dict(result.endings) != endings:
        raise RuntimeError(f"not every purchase ended well: {dict(result.endings)}")
    return result


def _spread(millis: list[float], value: float, unit: str) -> Figure:
    spread = Spread.of(millis)
    return Figure(value=value, unit=unit, p50=spread.p50, p95=spread.p95, p99=spread.p99)


def _with_yardstick(figure: Figure, yardstick: float, ratio: float) -> Figure:
    return Figure(
        value=figure.value,
        unit=figure.unit,
        p50=figure.p50,
        p95=figure.p95,
        p99=figure.p99,
        yardstick=yardstick,
        ratio=ratio,
    )
