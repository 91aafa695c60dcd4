"""How long a fact takes from its commit to whoever watches, and how many a second reach RabbitMQ in a burst.

PostgreSQL keeps its promises to the disk, Redis and RabbitMQ are on, server and worker are processes of their own, and
whoever watches reads server-sent events over HTTP. The yardstick of the burst is the broker alone: the same facts
published in the same window, with no database behind them. Both are taken in turns, and their processor time is told
beside their rates: busy neighbours change that less.
"""

from __future__ import annotations

import http.client
import os
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pika

from scripts.measuring.facts_house import CHANGED, ISSUED, NEWS_EVERY, PATIENCE_S, QUEUE, FactsHouse
from scripts.measuring.labour import labour, since
from scripts.measuring.result import Figure, Result, at_least, at_most, both
from scripts.measuring.statistics import Spread
from scripts.processes.ports import LOOPBACK
from sync_server.events import service as events
from sync_server.outbox.rabbit import Rabbit
from sync_server.plumbing.bus import of_event
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.principals import SYSTEM, Deed
from sync_server.plumbing.work import Message

EVENTS = 40
AT_ONCE = 2_000  # what the broker confirms well within the time in which it must


def measure(*, quick: bool) -> Iterator[Result]:
    """First one fact at a time, then bursts."""
    with ExitStack() as ends:
        house = House(ends)
        facts = 100 if quick else 400
        yield Result("facts", "commit to stream", house.commit_to_stream(facts), at_most(1_000, "p95"))
        yield Result(
            "facts",
            "commit to stream of the organisation",
            house.commit_to_stream(facts, of_all=True),
            at_most(1_000, "p95"),
        )
        yield Result("facts", "commit to bus", house.commit_to_bus(facts), at_most(1_000, "p95"))
        yield from _bursts(house, rounds=2 if quick else 4, facts=8_000 if quick else 25_000)


def _bursts(house: House, *, rounds: int, facts: int) -> Iterator[Result]:
    """The relay and the broker alone in turns: of rates the one in the middle, of each pair the ratio."""
    alone, many, one = Rounds(), Rounds(), Rounds()
    for _ in range(rounds):
        alone.add(*house.broker_alone(facts))
        many.add(*house.burst(EVENTS, facts))
        one.add(*house.burst(1, facts))
    fast = both(at_least(5_000), at_least(0.5, "ratio"))
    yield Result("facts", "relay per second", many.against(alone), fast)
    yield Result("facts", "relay per second of one event", one.against(alone), fast)
    for name, most in (("worker", 150), ("postgresql", 75)):
        yield Result("facts", f"processor of the {name} for a fact", many.labour_against(alone, name), at_most(most))


class Rounds:
    """Rates and labours of the same thing, once and again."""

    def __init__(self) -> None:
        self.rates: list[float] = []
        self.micros: list[dict[str, float]] = []

    def add(self, rate: float, micros: dict[str, float]) -> None:
        """One round more."""
        self.rates.append(rate)
        self.micros.append(micros)

    def against(self, yardstick: Rounds) -> Figure:
        """How fast; the ratio is that of rounds which followed each other."""
        ratios = [mine / bare for mine, bare in zip(self.rates, yardstick.rates, strict=True)]
        middle, bare = statistics.median(self.rates), statistics.median(yardstick.rates)
        return Figure(value=middle, unit="facts/s", yardstick=bare, ratio=statistics.median(ratios))

    def labour_against(self, yardstick: Rounds, name: str) -> Figure:
        """At what price; the yardstick is what it costs to publish."""
        mine = statistics.median([one[name] for one in self.micros])
        bare = statistics.median([one["publisher"] for one in yardstick.micros])
        return Figure(value=mine, unit="µs", yardstick=bare, ratio=mine / bare)


def _read_until(stream: http.client.HTTPResponse, begins: bytes) -> None:
    """Up to the end of the first frame that begins so."""
    while (line := stream.readline()) and not line.startswith(begins):
        pass
    while line.strip():
        line = stream.readline()
    if not line:
        raise RuntimeError("the stream has ended")


class House(FactsHouse):
    """A server process (this one) and another, a worker, and all the servers they use."""

    def __init__(self, ends: ExitStack) -> None:
        super().__init__(ends)
        self.serve()
        self.worker = self.new_worker()

    def _change(self, n: int) -> int:
        """What an organiser changes of an event; the moment of the commit."""
        parts, committed = self.ground.parts, list[int]()
        with parts.database.writing() as session:
            after_commit(session, lambda: committed.append(time.perf_counter_ns()))
            deed = Deed(SYSTEM, parts.clock(), parts.entropy)
            organisation, event = self.made["organisation"]["id"], self.made["event"]["id"]
            events.change_event(session, organisation, event, {"description": f"change {n}"}, deed)
        return committed[0]

    def commit_to_stream(self, facts: int, *, of_all: bool = False) -> Figure:
        """From the end of the commit in this process until the client has read the fact from its stream."""
        self._wait_until_sent()
        path = "/api/live" if of_all else f"/api/events/{self.made['event']['id']}/live"
        line = http.client.HTTPConnection(LOOPBACK, self.port, timeout=PATIENCE_S)
        line.request("GET", path, headers={"Authorization": f"Bearer {self.made['api_token']}"})
        stream = line.getresponse()
        if stream.status != 200:
            raise RuntimeError(f"the stream answers {stream.status}")
        _read_until(stream, b"event: ready" if of_all else b"event: counters")
        times = []
        for n in range(facts):
            time.sleep((n * 7 % 50) / 1000)  # not in step with anybody's rounds
            begun = self._change(n)
            _read_until(stream, b"event: event_updated")
            times.append((time.perf_counter_ns() - begun) / 1e6)
        line.close()
        return Figure.of_spread(Spread.of(times), "ms")

    def commit_to_bus(self, facts: int) -> Figure:
        """From the end of the commit in this process until a listener here is told by the worker's."""
        self._wait_until_sent()
        times = []
        with self.ground.parts.bus.listen([of_event("event-1")]) as listener:
            for n in range(facts):
                time.sleep((n * 7 % 50) / 1000)  # not in step with anybody's rounds
                self.tell(1, 1)
                begun = time.perf_counter_ns()
                while not listener.wait(PATIENCE_S):
                    pass
                times.append((time.perf_counter_ns() - begun) / 1e6)
        return Figure.of_spread(Spread.of(times), "ms")

    def burst(self, events: int, facts: int) -> tuple[float, dict[str, float]]:
        """Facts a second from one commit of all of them until the last is with the broker; µs of each program."""
        self._wait_until_sent()
        self._empty_queue()
        programs = {"worker": self.worker.pid, "postgresql": self.postgres.pid}
        self.tell(facts, events)
        before, begun = labour(programs), time.perf_counter()
        self._wait_until_sent()
        taken = time.perf_counter() - begun
        return facts / taken, {name: seconds / facts * 1e6 for name, seconds in since(before, programs).items()}

    def _wait_until_sent(self) -> None:
        while self.newest_waits():
            time.sleep(0.02)
        if self.waiting():
            raise RuntimeError("the newest fact was sent before an older one")

    def _empty_queue(self) -> None:
        with pika.BlockingConnection(pika.URLParameters(self.rabbit.url)) as line:
            line.channel().queue_purge(QUEUE)

    def broker_alone(self, facts: int) -> tuple[float, dict[str, float]]:
        """The same letters straight to the broker, and what that costs whoever publishes."""
        self._empty_queue()
        stop, up = threading.Event(), threading.Event()
        rabbit = Rabbit(self.rabbit.url, os.urandom, up.set)
        thread = threading.Thread(target=rabbit.run, args=(stop,))
        thread.start()
        up.wait(PATIENCE_S)
        letters = [_letter(n) for n in range(facts)]
        begun, before = time.perf_counter(), time.process_time()
        delivered = sum(
            len(rabbit.deliver(letters[first : first + AT_ONCE]).delivered) for first in range(0, facts, AT_ONCE)
        )
        taken, worked = time.perf_counter() - begun, time.process_time() - before
        stop.set()
        thread.join()
        if delivered != facts:
            raise RuntimeError("the broker did not take everything")
        return facts / taken, {"publisher": worked / facts * 1e6}


def _letter(n: int) -> Message:
    name, payload = ("event_updated", CHANGED) if n % NEWS_EVERY == 0 else ("tickets_issued", ISSUED)
    subjects = {"event": "event-1", "event_number": 1}
    return Message(f"bench-{n}", name, "organisation", n, subjects, payload, 1, n, "event:1")
