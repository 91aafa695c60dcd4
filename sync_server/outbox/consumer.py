"""Takes in what the joining service tells over RabbitMQ; a message is done with when its effect is committed."""

from __future__ import annotations

import threading
from typing import Any, Final

import pika
from pika.exchange_type import ExchangeType
from sqlalchemy.exc import SQLAlchemyError

from shared.backoff import delays
from shared.errors import Unreadable
from sync_server.outbox import joins
from sync_server.outbox.letters import EXCHANGE
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.parts import Parts

QUEUE: Final = "gatehouse.joins"
DEAD_EXCHANGE: Final = "gatehouse.dead"
DEAD_QUEUE: Final = "gatehouse.joins.dead"
PREFETCH: Final = 10
LOOK_FOR_STOP_S: Final = 0.2
FIRST_PAUSE_MS: Final = 200
LONGEST_PAUSE_MS: Final = 5_000


class JoinsConsumer:
    """Reads `join.confirmed` and `join.canceled` for as long as the worker runs."""

    def __init__(self, parts: Parts, url: str) -> None:
        """Connects nowhere yet."""
        self._parts, self._url = parts, url
        self._losses = 0

    def run(self, stop: threading.Event) -> None:
        """Consume over one connection after the other, until the stop."""
        while not stop.is_set():
            try:
                self._consume(stop)
            except (pika.exceptions.AMQPError, OSError, SQLAlchemyError) as problem:
                # Without the database nothing can take effect: what was handed out comes again.
                self._losses += 1
                if self._losses == 1:
                    LOG.warning("joins_not_heard", problem=type(problem).__name__, meaning="they wait in their queue")
                stop.wait(self._pause() / 1000)

    def _consume(self, stop: threading.Event) -> None:
        parameters = pika.URLParameters(self._url)
        parameters.heartbeat = 20
        parameters.socket_timeout = parameters.stack_timeout = 5
        connection = pika.BlockingConnection(parameters)
        try:
            channel = connection.channel()
            declare(channel)
            channel.basic_qos(prefetch_count=PREFETCH)
            channel.basic_consume(QUEUE, self._take)
            while not stop.is_set():
                connection.process_data_events(LOOK_FOR_STOP_S)
        finally:
            if connection.is_open:
                connection.close()

    def _take(self, channel: Any, method: Any, properties: Any, body: bytes) -> None:
        try:
            join = joins.read(method.routing_key, properties.message_id, body)
        except Unreadable as problem:
            LOG.warning("join_unreadable", problem=problem.message)
            self._parts.metrics.joins_taken.labels("unreadable").inc()
            channel.basic_reject(method.delivery_tag, requeue=False)  # the queue lays it aside
            return
        with self._parts.database.writing() as session:
            first = joins.count(session, join, self._parts.clock())
        self._parts.metrics.joins_taken.labels("counted" if first else "known").inc()
        channel.basic_ack(method.delivery_tag)
        self._losses = 0

    def _pause(self) -> int:
        jitter = int.from_bytes(self._parts.entropy(2), "big") / 65536
        return delays(self._losses - 1, base_ms=FIRST_PAUSE_MS, cap_ms=LONGEST_PAUSE_MS, jitter=jitter)


def declare(channel: Any) -> None:
    """The queue of joins, and where the ones go that nobody can read."""
    channel.exchange_declare(EXCHANGE, ExchangeType.topic, durable=True)
    channel.exchange_declare(DEAD_EXCHANGE, ExchangeType.fanout, durable=True)
    channel.queue_declare(DEAD_QUEUE, durable=True)
    channel.queue_bind(DEAD_QUEUE, DEAD_EXCHANGE)
    channel.queue_declare(QUEUE, durable=True, arguments={"x-dead-letter-exchange": DEAD_EXCHANGE})
    for key in joins.STEPS:
        channel.queue_bind(QUEUE, EXCHANGE, key)
