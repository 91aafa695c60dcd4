"""How long a fact takes from its commit to whoever watches, and how many a second reach RabbitMQ in a burst.

PostgreSQL keeps its promises to the disk, Redis and RabbitMQ are on, server and worker are processes of their own, and
whoever watches reads server-sent events over HTTP. The yardstick of the burst is the broker alone: the same facts
published in the same window, with no database behind them.
"""

from __future__ import annotations

import http.client
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pika
from sqlalchemy import text

from scripts.measuring.result import Figure, Result, at_least, at_most
from scripts.measuring.statistics import Spread
from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port
from scripts.throwaway.postgres import PostgresServer
from scripts.throwaway.rabbit import RabbitServer
from scripts.throwaway.redis import RedisServer
from shared.clock import wall_clock
from sync_server.app import Ground, build, prepare
from sync_server.commands import demo
from sync_server.config import load
from sync_server.events import service as events
from sync_server.migrations import schema
from sync_server.outbox import queries
from sync_server.outbox.letters import EXCHANGE
from sync_server.outbox.rabbit import Rabbit
from sync_server.outbox.service import Fact, record
from sync_server.plumbing.bus import of_event
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.principals import SYSTEM, Deed
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
        facts = 100 if quick else 400
        yield Result("facts", "commit to stream", house.commit_to_stream(facts), at_most(1_000, "p95"))
        yield Result("facts", "commit to stream of the organisation", house.commit_to_stream(facts, of_all=True),
            at_most(1_000, "p95"))  # fmt: skip
        yield Result("facts", "commit to bus", house.commit_to_bus(facts), at_most(1_000, "p95"))
        one, many = house.bursts(1, 10_000 if quick else 30_000), house.bursts(EVENTS, 10_000 if quick else 30_000)
        alone = house.broker_alone(5_000 if quick else 20_000)
        yield Result("facts", "relay per second", _against(many, alone), at_least(5_000))
        yield Result("facts", "relay per second of one event", _against(one, alone), at_least(5_000))


def _against(value: float, yardstick: float) -> Figure:
    return Figure(value=value, unit="facts/s", yardstick=yardstick, ratio=value / yardstick)


def _read_until(stream: http.client.HTTPResponse, begins: bytes) -> None:
    """Up to the end of the first frame that begins so."""
    while (line := stream.readline()) and not line.startswith(begins):
        pass
    while line.strip():
        line = stream.readline()
    if not line:
        raise RuntimeError("the stream has ended")


@dataclass(frozen=True, slots=True)
class Watched:
    """A real event, and a token that may read it."""

    organisation_id: str
    event_id: str
    token: str

    @classmethod
    def make(cls, ground: Ground) -> Watched:
        """As the demo organisation is made."""
        made = demo.make(ground)
        return cls(made["organisation"]["id"], made["event"]["id"], made["api_token"])

    def change(self, ground: Ground, n: int) -> int:
        """What an organiser changes of it; the moment of the commit."""
        parts, committed = ground.parts, list[int]()
        with parts.database.writing() as session:
            after_commit(session, lambda: committed.append(time.perf_counter_ns()))
            deed = Deed(SYSTEM, parts.clock(), parts.entropy)
            events.change_event(session, self.organisation_id, self.event_id, {"description": f"change {n}"}, deed)
        return committed[0]


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
        self.watched = Watched.make(self.ground)
        self._partner()
        self.port = free_port()
        web = Child("the server", [sys.executable, "-m", "sync_server", "serve", "--port", str(self.port)],
            folder / "server.log", environment, ROOT)  # fmt: skip
        web.start()
        ends.callback(web.stop)
        web.wait_until(self._answers)
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

    def _answers(self) -> bool:
        line = http.client.HTTPConnection(LOOPBACK, self.port, timeout=5)
        try:
            line.request("GET", "/readyz")
            return line.getresponse().status == 200
        except OSError:
            return False
        finally:
            line.close()

    def commit_to_stream(self, facts: int, *, of_all: bool = False) -> Figure:
        """From the end of the commit in this process until the client has read the fact from its stream."""
        self._wait_until_sent()
        path = "/api/live" if of_all else f"/api/events/{self.watched.event_id}/live"
        line = http.client.HTTPConnection(LOOPBACK, self.port, timeout=LATEST_S)
        line.request("GET", path, headers={"Authorization": f"Bearer {self.watched.token}"})
        stream = line.getresponse()
        if stream.status != 200:
            raise RuntimeError(f"the stream answers {stream.status}")
        _read_until(stream, b"event: ready" if of_all else b"event: counters")
        times = []
        for n in range(facts):
            time.sleep((n * 7 % 50) / 1000)  # not in step with anybody's rounds
            begun = self.watched.change(self.ground, n)
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
