"""A server with a broker, workers that may come and go, and a consumer that behaves as consumers should."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import orjson
import pika
from sqlalchemy import text

from scripts.private_services.rabbit import RabbitServer
from scripts.processes.child import ProgramFailedError
from shared.clock import wall_clock
from sync_server.config import check
from sync_server.migrations import schema
from sync_server.outbox import queries
from sync_server.outbox.broker.messages import EXCHANGE
from sync_server.outbox.service import Fact, record
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.runtime import ServerRuntime, build_runtime, prepare_database
from sync_server.workers import Worker
from tests.builders import an_id

PATIENCE_S = 60.0
MARQUEE = an_id("marquee")


def put_up_again(server: RabbitServer) -> None:
    """Leave it running for the next test, whatever this one did to it."""
    with suppress(ProgramFailedError):  # it runs
        server.start()


class Sender:
    """A server process that publishes facts."""

    def __init__(self, folder: Path, database_url: str, amqp_url: str | None, redis_url: str | None = None) -> None:
        key = folder / "master.key"
        key.write_text("11" * 32)
        settings = {"database_url": database_url, "master_key_file": key, "log_level": "error"}
        urls = {name: url for name, url in (("amqp_url", amqp_url), ("redis_url", redis_url)) if url}
        self.config = check(settings | urls)
        self.runtime = build_runtime(self.config, clock=wall_clock, entropy=os.urandom)
        self.parts, self.database = self.runtime.parts, self.runtime.parts.database
        schema.upgrade(self.database.engine)
        prepare_database(self.runtime)

    def close(self) -> None:
        self.runtime.close()

    def tell(self, event: int, *numbers: int, name: str = "event_updated", org: str = MARQUEE) -> None:
        """Facts of one event, in one transaction."""
        with self.database.writing() as session:
            for number in numbers:
                subjects = {"event": an_id(f"e{event}"), "event_number": event}
                record(session, Fact(name, org, wall_clock(), subjects, {"n": number}))

    def context(self) -> ActionContext:
        return ActionContext(SYSTEM, wall_clock(), os.urandom)

    def left(self) -> int:
        with self.database.reading() as session:
            return queries.pending_count(session)

    def column_values(self, column: str) -> list[Any]:
        """One column of the outbox, in order."""
        with self.database.reading() as session:
            return list(session.execute(text(f"SELECT {column} FROM outbox ORDER BY position")).scalars())

    def joined(self, event_id: str) -> int:
        with self.database.reading() as session:
            return queries.joined_elsewhere(session, [event_id]).get(event_id, 0)

    @contextmanager
    def working(self, runtime: ServerRuntime | None = None) -> Iterator[None]:
        """A worker at work; a second `runtime` is another process."""
        stop = threading.Event()
        worker = threading.Thread(target=Worker((runtime or self.runtime).parts).run, args=(stop,), daemon=True)
        worker.start()
        try:
            yield
        finally:
            stop.set()
            worker.join(PATIENCE_S)
        assert not worker.is_alive()

    def another_process(self) -> ServerRuntime:
        return build_runtime(self.config, clock=wall_clock, entropy=os.urandom)


class Consumer:
    """A consumer with a queue of its own that skips what it has seen."""

    def __init__(self, amqp_url: str, *keys: str) -> None:
        self._url, self._keys = amqp_url, keys or ("#",)
        self.seen: dict[str, dict[str, Any]] = {}
        self.messages: list[tuple[str, Any, dict[str, Any]]] = []
        with pika.BlockingConnection(pika.URLParameters(amqp_url)) as connection:
            channel = connection.channel()
            channel.exchange_declare(EXCHANGE, "topic", durable=True)
            channel.queue_declare("partner", durable=True)
            for key in self._keys:
                channel.queue_bind("partner", EXCHANGE, key)

    def read(self) -> bool:
        """Read everything in the queue; whether the broker let it be read to the end."""
        try:
            with pika.BlockingConnection(pika.URLParameters(self._url)) as connection:
                channel = connection.channel()
                while True:
                    method, properties, body = channel.basic_get("partner")
                    if method is None:
                        return True
                    self._take(method.routing_key, properties, orjson.loads(body))
                    channel.basic_ack(method.delivery_tag)
        except (pika.exceptions.AMQPError, OSError):
            return False  # the broker is away: what was not acknowledged comes again

    def _take(self, key: str, properties: Any, payload: dict[str, Any]) -> None:
        self.messages.append((key, properties, payload))
        self.seen.setdefault(properties.message_id, payload)

    def numbers(self, event: int) -> list[int]:
        """The numbers received for an event, each message once, in order."""
        return [
            payload["payload"]["n"] for payload in self.seen.values() if payload["subjects"]["event_number"] == event
        ]
