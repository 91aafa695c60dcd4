"""A stack with private PostgreSQL, Redis and RabbitMQ, whose servers and workers are processes of their own."""

from __future__ import annotations

import http.client
import sys
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path

import pika
from sqlalchemy import text

from scripts.private_services.postgres import PostgresServer
from scripts.private_services.rabbit import RabbitServer
from scripts.private_services.redis import RedisServer
from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port
from shared.clock import wall_clock
from sync_server.commands import demo
from sync_server.config import load
from sync_server.migrations import schema
from sync_server.outbox import cursors, queries
from sync_server.outbox.broker import consumer
from sync_server.outbox.broker.messages import EXCHANGE
from sync_server.outbox.service import Fact, record
from sync_server.plumbing.messaging.shared_bus import SharedBus
from sync_server.runtime import ServerRuntime, build_runtime, prepare_database

ROOT = Path(__file__).parents[3]
QUEUE = "partner"
OTHER_ORGANISATION = "01980000-0000-7000-8000-000000000000"
"""The organisation of facts that correspond to nothing in the tables."""
TIMEOUT_S = 30.0
CHANGE_EVERY = 20
ISSUED = {"ticket_type": 1, "count": 4, "first": 1_001, "last": 1_004}
CHANGED = {"before": {"description": "with strings"}, "after": {"description": "with brass"}, "reason": ""}


def event_id(number: int) -> str:
    """The id of an event that is not in the tables either."""
    return f"01980000-0000-7000-8001-{number:012d}"


class FactsStack:
    """The stack; this process is one of its servers, `serve` and `new_worker` start others."""

    def __init__(self, cleanup: ExitStack) -> None:
        """Start the services and create the demo organisation."""
        self._cleanup = cleanup
        self.folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="gatehouse-bench-")))
        self.postgres, self.redis, self.rabbit = PostgresServer(durable=True), RedisServer(), RabbitServer()
        for server in (self.postgres, self.redis, self.rabbit):
            cleanup.callback(server.remove)
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
        self.runtime = self._open_runtime()
        self.demo = demo.make_demo(self.runtime)
        self.port = free_port()
        self._bind_partner()

    @property
    def address(self) -> str:
        """URL of its servers."""
        return f"http://{LOOPBACK}:{self.port}"

    def _open_runtime(self) -> ServerRuntime:
        runtime = build_runtime(load(self.environment))
        schema.upgrade(runtime.parts.database.engine)
        prepare_database(runtime)
        stop = threading.Event()
        for loop in runtime.parts.backends.loops:
            threading.Thread(target=loop, args=(stop,), daemon=True).start()
        self._cleanup.callback(runtime.close)
        self._cleanup.callback(stop.set)
        bus = runtime.parts.bus
        if not isinstance(bus, SharedBus) or not bus.joined.wait(TIMEOUT_S):
            raise RuntimeError("this process cannot hear the others")
        return runtime

    def _bind_partner(self) -> None:
        """Bind a queue to every fact, so that the broker has work to do."""
        with pika.BlockingConnection(pika.URLParameters(self.rabbit.url)) as connection:
            channel = connection.channel()
            channel.exchange_declare(EXCHANGE, "topic", durable=True)
            channel.queue_declare(QUEUE, durable=True)
            channel.queue_bind(QUEUE, EXCHANGE, "#")

    def serve(self, processes: int = 1) -> Child:
        """Start server processes and wait until they respond."""
        web = self._child("server", "serve", "--port", str(self.port), "--processes", str(processes))
        web.wait_until(self._responds)
        return web

    def new_worker(self) -> Child:
        """Start another worker."""
        return self._child("worker", "worker")

    def workers_up(self) -> int:
        """How many workers are up: each consumes the queue of joins."""
        with pika.BlockingConnection(pika.URLParameters(self.rabbit.url)) as connection:
            try:
                return int(connection.channel().queue_declare(consumer.QUEUE, passive=True).method.consumer_count)
            except pika.exceptions.ChannelClosedByBroker:
                return 0  # no worker has declared it yet

    def _child(self, name: str, *arguments: str) -> Child:
        command = [sys.executable, "-m", "sync_server", *arguments]
        child = Child(f"the {name}", command, self.folder / f"{name}.log", self.environment, ROOT)
        child.start()
        self._cleanup.callback(child.stop)
        return child

    def _responds(self) -> bool:
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def record_facts(self, facts: int, events: int, first: int = 1) -> None:
        """Record facts in one commit: issued tickets, and now and then a change of the event."""
        with self.runtime.parts.database.writing() as session:
            for n in range(facts):
                number = n % events + first
                subjects = {"event": event_id(number), "event_number": number}
                name, payload = ("event_updated", CHANGED) if n % CHANGE_EVERY == 0 else ("tickets_issued", ISSUED)
                record(session, Fact(name, OTHER_ORGANISATION, wall_clock(), subjects, payload))

    def waiting(self) -> int:
        """The number of facts that are not sent yet."""
        with self.runtime.parts.database.reading() as session:
            return queries.pending_count(session)

    def newest_waits(self) -> bool:
        """Whether a fact is not sent yet: reading a few rows does not disturb the measurement."""
        with self.runtime.parts.database.reading() as session:
            if session.execute(text("SELECT 1 FROM outbox WHERE position IS NULL LIMIT 1")).first():
                return True
            return any(each.given > each.delivered for each in cursors.progress(session).values())
