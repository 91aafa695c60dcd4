"""How long a fact takes from its commit to a listener, and how many per second reach RabbitMQ in a burst.

PostgreSQL is durable, Redis and RabbitMQ are on, server and worker are processes of their own, and the listener reads
server-sent events over HTTP. The yardstick of the burst is the broker alone: the same facts published with the same
window and no database. Both run alternately, and their CPU time is reported beside their rates, because other load on
the machine changes it less.
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

from scripts.benchmarking.meters.cpu_time import cpu_seconds, cpu_seconds_since
from scripts.benchmarking.result import Figure, Result, at_least, at_most, both
from scripts.benchmarking.servers.facts_stack import (
    CHANGE_EVERY,
    CHANGED,
    ISSUED,
    OTHER_ORGANISATION,
    QUEUE,
    TIMEOUT_S,
    FactsStack,
    event_id,
)
from scripts.benchmarking.statistics import Spread
from scripts.processes.ports import LOOPBACK
from scripts.processes.streams_address import opened_stream
from sync_server.events import service as events
from sync_server.outbox.broker.rabbit import RabbitDelivery
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.jobs import Message
from sync_server.plumbing.messaging.bus import event_topic
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext

EVENTS = 40
BATCH = 2_000  # what the broker confirms well within its time limit


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure one fact at a time first, then bursts."""
    with ExitStack() as cleanup:
        benchmark = FactsBenchmark(cleanup)
        facts = 100 if quick else 400
        yield Result("facts", "commit to stream", benchmark.commit_to_stream(facts), at_most(1_000, "p95"))
        yield Result(
            "facts",
            "commit to stream of the organisation",
            benchmark.commit_to_stream(facts, of_all=True),
            at_most(1_000, "p95"),
        )
        yield Result("facts", "commit to bus", benchmark.commit_to_bus(facts), at_most(1_000, "p95"))
        yield from _bursts(benchmark, rounds=2 if quick else 4, facts=8_000 if quick else 25_000)


def _bursts(benchmark: FactsBenchmark, *, rounds: int, facts: int) -> Iterator[Result]:
    """Measure the relay and the broker alone alternately; rates are medians, ratios are of paired rounds."""
    alone, many, one = Rounds(), Rounds(), Rounds()
    for _ in range(rounds):
        alone.add(*benchmark.broker_alone(facts))
        many.add(*benchmark.burst(EVENTS, facts))
        one.add(*benchmark.burst(1, facts))
    fast = both(at_least(5_000), at_least(0.5, "ratio"))
    yield Result("facts", "relay per second", many.against(alone), fast)
    yield Result("facts", "relay per second of one event", one.against(alone), fast)
    for name, limit in (("worker", 150), ("postgresql", 75)):
        yield Result("facts", f"processor of the {name} for a fact", many.cpu_against(alone, name), at_most(limit))


class Rounds:
    """Rates and CPU times of several rounds."""

    def __init__(self) -> None:
        self.rates: list[float] = []
        self.micros: list[dict[str, float]] = []

    def add(self, rate: float, micros: dict[str, float]) -> None:
        """Add a round."""
        self.rates.append(rate)
        self.micros.append(micros)

    def against(self, yardstick: Rounds) -> Figure:
        """The rate; its ratio is the median of the paired rounds."""
        ratios = [measured / bare for measured, bare in zip(self.rates, yardstick.rates, strict=True)]
        middle, bare = statistics.median(self.rates), statistics.median(yardstick.rates)
        return Figure(value=middle, unit="facts/s", yardstick=bare, ratio=statistics.median(ratios))

    def cpu_against(self, yardstick: Rounds, name: str) -> Figure:
        """The CPU time of a program; the yardstick is the CPU time of publishing alone."""
        measured = statistics.median([one[name] for one in self.micros])
        bare = statistics.median([one["publisher"] for one in yardstick.micros])
        return Figure(value=measured, unit="µs", yardstick=bare, ratio=measured / bare)


def _read_until(stream: http.client.HTTPResponse, prefix: bytes) -> None:
    """Read up to the end of the first frame that starts with `prefix`."""
    while (line := stream.readline()) and not line.startswith(prefix):
        pass
    while line.strip():
        line = stream.readline()
    if not line:
        raise RuntimeError("the stream has ended")


class FactsBenchmark(FactsStack):
    """The facts stack with a second server process and a worker."""

    def __init__(self, cleanup: ExitStack) -> None:
        super().__init__(cleanup)
        self.serve()
        self.worker = self.new_worker()

    def _change(self, n: int) -> int:
        """Change an event as an organiser does; return the time of the commit."""
        parts, committed = self.runtime.parts, list[int]()
        with parts.database.writing() as session:
            after_commit(session, lambda: committed.append(time.perf_counter_ns()))
            context = ActionContext(SYSTEM, parts.clock(), parts.entropy)
            organisation, event = self.demo["organisation"]["id"], self.demo["event"]["id"]
            events.change_event(session, organisation, event, {"description": f"change {n}"}, context)
        return committed[0]

    def commit_to_stream(self, facts: int, *, of_all: bool = False) -> Figure:
        """From the end of the commit in this process until the client has read the fact from its stream."""
        self._wait_until_sent()
        path = "/api/live" if of_all else f"/api/events/{self.demo['event']['id']}/live"
        headers = {"Authorization": f"Bearer {self.demo['api_token']}"}
        connection, stream = opened_stream(f"{LOOPBACK}:{self.port}", path, headers, TIMEOUT_S)
        if stream.status != 200:
            raise RuntimeError(f"the stream responded {stream.status}")
        _read_until(stream, b"event: ready" if of_all else b"event: counters")
        times = []
        for n in range(facts):
            time.sleep((n * 7 % 50) / 1000)  # out of step with the loops of the other programs
            started = self._change(n)
            _read_until(stream, b"event: event_updated")
            times.append((time.perf_counter_ns() - started) / 1e6)
        connection.close()
        return Figure.of_spread(Spread.of(times), "ms")

    def commit_to_bus(self, facts: int) -> Figure:
        """From the end of the commit in this process until a listener here hears of it from the worker."""
        self._wait_until_sent()
        times = []
        with self.runtime.parts.bus.listen([event_topic(event_id(1))]) as listener:
            for n in range(facts):
                time.sleep((n * 7 % 50) / 1000)  # out of step with the loops of the other programs
                self.record_facts(1, 1)
                started = time.perf_counter_ns()
                while not listener.wait(TIMEOUT_S):
                    pass
                times.append((time.perf_counter_ns() - started) / 1e6)
        return Figure.of_spread(Spread.of(times), "ms")

    def burst(self, events: int, facts: int) -> tuple[float, dict[str, float]]:
        """Facts per second from one commit of all until the last is sent; CPU µs per fact of each program."""
        self._wait_until_sent()
        self._empty_queue()
        programs = {"worker": self.worker.pid, "postgresql": self.postgres.pid}
        self.record_facts(facts, events)
        before, started = cpu_seconds(programs), time.perf_counter()
        self._wait_until_sent()
        taken = time.perf_counter() - started
        return facts / taken, {
            name: seconds / facts * 1e6 for name, seconds in cpu_seconds_since(before, programs).items()
        }

    def _wait_until_sent(self) -> None:
        while self.newest_waits():
            time.sleep(0.02)
        if self.waiting():
            raise RuntimeError("the newest fact was sent before an older one")

    def _empty_queue(self) -> None:
        with pika.BlockingConnection(pika.URLParameters(self.rabbit.url)) as connection:
            connection.channel().queue_purge(QUEUE)

    def broker_alone(self, facts: int) -> tuple[float, dict[str, float]]:
        """Publish the same messages straight to the broker; facts per second and CPU µs per fact."""
        self._empty_queue()
        stop, up = threading.Event(), threading.Event()
        rabbit = RabbitDelivery(self.rabbit.url, os.urandom, up.set)
        thread = threading.Thread(target=rabbit.run, args=(stop,))
        thread.start()
        up.wait(TIMEOUT_S)
        messages = [_message(n) for n in range(facts)]
        started, before = time.perf_counter(), time.process_time()
        delivered = sum(
            len(rabbit.deliver(messages[first : first + BATCH]).delivered) for first in range(0, facts, BATCH)
        )
        taken, cpu = time.perf_counter() - started, time.process_time() - before
        stop.set()
        thread.join()
        if delivered != facts:
            raise RuntimeError("the broker did not accept everything")
        return facts / taken, {"publisher": cpu / facts * 1e6}


def _message(n: int) -> Message:
    name, payload = ("event_updated", CHANGED) if n % CHANGE_EVERY == 0 else ("tickets_issued", ISSUED)
    subjects = {"event": event_id(1), "event_number": 1}
    return Message(f"bench-{n}", name, OTHER_ORGANISATION, n, subjects, payload, 1, n, "event:1")
