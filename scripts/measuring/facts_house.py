"""A house whose facts travel: PostgreSQL, Redis and RabbitMQ of its own, with servers and workers as processes."""

from __future__ import annotations

import http.client
import sys
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path

import pika
from sqlalchemy import text

from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port
from scripts.throwaway.postgres import PostgresServer
from scripts.throwaway.rabbit import RabbitServer
from scripts.throwaway.redis import RedisServer
from shared.clock import wall_clock
from sync_server.app import Ground, build, prepare
from sync_server.commands import demo
from sync_server.config import load
from sync_server.migrations import schema
from sync_server.outbox import consumer, queries
from sync_server.outbox.letters import EXCHANGE
from sync_server.outbox.service import Fact, record
from sync_server.plumbing.redis_bus import RedisBus

ROOT = Path(__file__).parents[2]
QUEUE = "partner"
ELSEWHERE = "organisation"
"""Whose facts they are that stand for nothing in the tables."""
PATIENCE_S = 30.0
NEWS_EVERY = 20
ISSUED = {"ticket_type": 1, "count": 4, "first": 1_001, "last": 1_004}
CHANGED = {"before": {"description": "with strings"}, "after": {"description": "with brass"}, "reason": ""}


class FactsHouse:
    """This process is one of its servers; `serve` and `new_worker` start others."""

    def __init__(self, ends: ExitStack) -> None:
        """Start what it leans on, and found the demo organisation."""
        self._ends = ends
        self.folder = Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="gatehouse-bench-")))
        self.postgres, self.redis, self.rabbit = PostgresServer(durable=True), RedisServer(), RabbitServer()
        for server in (self.postgres, self.redis, self.rabbit):
            ends.callback(server.remove)
        self.postgres.create()
        for server in (self.postgres, self.redis, self.rabbit):
            server.start()
        (self.folder / "master.key").write_text("22" * 32)
        self.environment = {
            "GATEHOUSE_DATABASE_URL": self.postgres.new_database(),
            "GATEHOUSE_REDIS_URL": self.redis.url,
            "GATEHOUSE_AMQP_URL": self.rabbit.url,
            "GATEHOUSE_MASTER_KEY_FILE": str(self.folder / "master.key"),
            "GATEHOUSE_LOG_LEVEL": "error",
        }
        self.ground = self._settle()
        self.made = demo.make(self.ground)
        self.port = free_port()
        self._bind_partner()

    @property
    def address(self) -> str:
        """Where its servers answer."""
        return f"http://{LOOPBACK}:{self.port}"

    def _settle(self) -> Ground:
        ground = build(load(self.environment))
        schema.upgrade(ground.parts.database.engine)
        prepare(ground)
        stop = threading.Event()
        for loop in ground.parts.nearby.loops:
            threading.Thread(target=loop, args=(stop,), daemon=True).start()
        self._ends.callback(ground.close)
        self._ends.callback(stop.set)
        bus = ground.parts.bus
        if not isinstance(bus, RedisBus) or not bus.joined.wait(PATIENCE_S):
            raise RuntimeError("this process does not hear the others")
        return ground

    def _bind_partner(self) -> None:
        """A queue that wants everything, so that the broker has work to do."""
        with pika.BlockingConnection(pika.URLParameters(self.rabbit.url)) as line:
            channel = line.channel()
            channel.exchange_declare(EXCHANGE, "topic", durable=True)
            channel.queue_declare(QUEUE, durable=True)
            channel.queue_bind(QUEUE, EXCHANGE, "#")

    def serve(self, processes: int = 1) -> Child:
        """Server processes that answer HTTP."""
        web = self._child("server", "serve", "--port", str(self.port), "--processes", str(processes))
        web.wait_until(self._answers)
        return web

    def new_worker(self) -> Child:
        """One more worker."""
        return self._child("worker", "worker")

    def workers_up(self) -> int:
        """How many workers have begun: each listens to the queue of joins."""
        with pika.BlockingConnection(pika.URLParameters(self.rabbit.url)) as line:
            try:
                return int(line.channel().queue_declare(consumer.QUEUE, passive=True).method.consumer_count)
            except pika.exceptions.ChannelClosedByBroker:
                return 0  # nobody has made it yet

    def _child(self, name: str, *words: str) -> Child:
        command = [sys.executable, "-m", "sync_server", *words]
        child = Child(f"the {name}", command, self.folder / f"{name}.log", self.environment, ROOT)
        child.start()
        self._ends.callback(child.stop)
        return child

    def _answers(self) -> bool:
        line = http.client.HTTPConnection(LOOPBACK, self.port, timeout=5)
        try:
            line.request("GET", "/readyz")
            return line.getresponse().status == 200
        except OSError:
            return False
        finally:
            line.close()

    def tell(self, facts: int, events: int, first: int = 1) -> None:
        """What a box office tells on a busy evening: tickets, and now and then a change of the event; in one commit."""
        with self.ground.parts.database.writing() as session:
            for n in range(facts):
                number = n % events + first
                subjects = {"event": f"event-{number}", "event_number": number}
                name, payload = ("event_updated", CHANGED) if n % NEWS_EVERY == 0 else ("tickets_issued", ISSUED)
                record(session, Fact(name, ELSEWHERE, wall_clock(), subjects, payload))

    def waiting(self) -> int:
        """Facts that are not with the broker yet."""
        with self.ground.parts.database.reading() as session:
            return queries.waiting(session)

    def newest_waits(self) -> bool:
        """The same of the newest one only: one look at one row slows down nothing that is measured."""
        with self.ground.parts.database.reading() as session:
            newest = session.execute(text("SELECT sent_at FROM outbox ORDER BY id DESC LIMIT 1")).first()
        return newest is not None and newest.sent_at is None
