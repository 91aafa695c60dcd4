"""How long a fact takes from its commit to whoever watches, and how many a second reach RabbitMQ in a burst.

PostgreSQL keeps its promises to the disk, Redis and RabbitMQ are on, and the worker is a process of its own. The
yardstick of the burst is the broker alone: the same facts published in the same window, with no database behind them.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pika
from sqlalchemy import text

from scripts.measuring.result import Figure, Result, at_least, at_most
from scripts.measuring.statistics import Spread
from scripts.processes.child import Child
from scripts.throwaway.postgres import PostgresServer
from scripts.throwaway.rabbit import RabbitServer
from scripts.throwaway.redis import RedisServer
from shared.clock import wall_clock
from sync_server.app import Ground, build, prepare
from sync_server.config import load
from sync_server.migrations import schema
from sync_server.outbox import queries
from sync_server.outbox.letters import EXCHANGE
from sync_server.outbox.rabbit import Rabbit
from sync_server.outbox.service import Fact, record
from sync_server.plumbing.bus import of_event
from sync_server.plumbing.redis_bus import RedisBus
from sync_server.plumbing.work import Message

ROOT = Path(__file__).parents[2]
EVENTS = 40
NEWS_EVERY = 20
ISSUED = {"ticket_type": 1, "count": 4, "first": 1_001, "last": 1_004}
CHANGED = {"before": {"description": "with strings"}, "after": {"description": "with brass"}, "reason": ""}
LATEST_S = 30.0


def measure(*, quick: bool) -> Iterator[Result]:
    """First one fact at a time, then bursts."""
    with ExitStack() as ends:
        house = House(ends)
        yield Result("facts", "commit to stream", house.commit_to_stream(100 if quick else 400), at_most(1_000, "p95"))
        one, many = house.bursts(1, 10_000 if quick else 30_000), house.bursts(EVENTS, 10_000 if quick else 30_000)
        alone = house.broker_alone(5_000 if quick else 20_000)
        yield Result("facts", "relay per second", _against(many, alone), at_least(5_000))
        yield Result("facts", "relay per second of one event", _against(one, alone), at_least(5_000))


def _against(value: float, yardstick: float) -> Figure:
    return Figure(value=value, unit="facts/s", yardstick=yardstick, ratio=value / yardstick)


class House:
    """A server process (this one), its worker, and all the servers they use."""

    def __init__(self, ends: ExitStack) -> None:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="gatehouse-bench-")))
        postgres, redis, rabbit = PostgresServer(durable=True), RedisServer(), RabbitServer()
        for server in (postgres, redis, rabbit):
            ends.callback(server.remove)
        postgres.create()
        for server in (postgres, redis, rabbit):
            server.start()
        self.amqp_url = rabbit.url
        environment = {
            "GATEHOUSE_DATABASE_URL": postgres.new_database(),
            "GATEHOUSE_REDIS_URL": redis.url,
            "GATEHOUSE_AMQP_URL": rabbit.url,
            "GATEHOUSE_MASTER_KEY_FILE": str(folder / "master.key"),
            "GATEHOUSE_LOG_LEVEL": "error",
        }
        (folder / "master.key").write_text("22" * 32)
        self.ground = self._settle(environment, ends)
        self._partner()
        worker = Child("the worker", [sys.executable, "-m", "sync_server", "worker"], folder / "log", environment, ROOT)
        worker.start()
        ends.callback(worker.stop)

    def _settle(self, environment: dict[str, str], ends: ExitStack) -> Ground:
        ground = build(load(environment))
        schema.upgrade(ground.parts.database.engine)
        prepare(ground)
        stop = threading.Event()
        for loop in ground.parts.nearby.loops:
            threading.Thread(target=loop, args=(stop,), daemon=True).start()
        ends.callback(ground.close)
        ends.callback(stop.set)
        bus = ground.parts.bus
        if not isinstance(bus, RedisBus) or not bus.joined.wait(LATEST_S):
            raise RuntimeError("this process does not hear the others")
        return ground

    def _partner(self) -> None:
        """A queue that wants everything, so that the broker has work to do."""
        with pika.BlockingConnection(pika.URLParameters(self.amqp_url)) as line:
            channel = line.channel()
            channel.exchange_declare(EXCHANGE, "topic", durable=True)
            channel.queue_declare("partner", durable=True)
            channel.queue_bind("partner", EXCHANGE, "#")

    def _tell(self, facts: int, events: int) -> None:
        """What a box office tells on a busy evening: tickets, and now and then a change of the event."""
        with self.ground.parts.database.writing() as session:
            for n in range(facts):
                number = n % events + 1
                subjects = {"event": f"event-{number}", "event_number": number}
                name, payload = ("event_updated", CHANGED) if n % NEWS_EVERY == 0 else ("tickets_issued", ISSUED)
                record(session, Fact(name, "organisation", wall_clock(), subjects, payload))

    def commit_to_stream(self, facts: int) -> Figure:
        """From the end of the commit in this process until a listener here is told by the worker's."""
        self._wait_until_sent()
        times = []
        with self.ground.parts.bus.listen([of_event("event-1")]) as listener:
            for n in range(facts):
                time.sleep((n * 7 % 50) / 1000)  # not in step with anybody's rounds
                self._tell(1, 1)
                begun = time.perf_counter_ns()
                while not listener.wait(LATEST_S):
                    pass
                times.append((time.perf_counter_ns() - begun) / 1e6)
        return Figure.of_spread(Spread.of(times), "ms")

    def bursts(self, events: int, facts: int) -> float:
        """Facts a second from one commit of all of them until the last is with the broker."""
        self._wait_until_sent()
        self._tell(facts, events)
        begun = time.perf_counter()
        self._wait_until_sent()
        return facts / (time.perf_counter() - begun)

    def _wait_until_sent(self) -> None:
        while self._newest_waits():
            time.sleep(0.02)
        with self.ground.parts.database.reading() as session:
            if queries.waiting(session):
                raise RuntimeError("the newest fact was sent before an older one")

    def _newest_waits(self) -> bool:
        # One look at one row: counting what waits would slow down what is measured.
        with self.ground.parts.database.reading() as session:
            newest = session.execute(text("SELECT sent_at FROM outbox ORDER BY id DESC LIMIT 1")).first()
        return newest is not None and newest.sent_at is None

    def broker_alone(self, facts: int) -> float:
        """The same letters straight to the broker."""
        stop, up = threading.Event(), threading.Event()
        rabbit = Rabbit(self.amqp_url, os.urandom, up.set)
        thread = threading.Thread(target=rabbit.run, args=(stop,))
        thread.start()
        up.wait(LATEST_S)
        letters = [
            Message(f"bench-{n}", "tickets_issued", "organisation", n, {"event_number": 1}, ISSUED, 1, n, "event:1")
            for n in range(facts)
        ]
        begun = time.perf_counter()
        outcome = rabbit.deliver(letters)
        taken = time.perf_counter() - begun
        stop.set()
        thread.join()
        if len(outcome.delivered) != facts:
            raise RuntimeError("the broker did not take everything")
        return facts / taken
