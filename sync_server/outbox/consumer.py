"""Takes in what the joining service tells over RabbitMQ; a message is done with when its effect is committed."""

from __future__ import annotations

import threading
from collections import Counter
from functools import partial
from typing import Any, Final

import pika
from pika.exchange_type import ExchangeType
from sqlalchemy.exc import DataError, IntegrityError, SQLAlchemyError

from shared.backoff import delays
from shared.errors import Unreadable
from sync_server.outbox import joins
from sync_server.outbox.joins import Join
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
MOST_TRIES: Final = 5
"""A worker lays a letter aside whose effect has failed so often there while database and disk were well."""


class JoinsConsumer:
    """Reads `join.confirmed` and `join.canceled` for as long as the worker runs."""

    def __init__(self, parts: Parts, url: str) -> None:
        """Connects nowhere yet."""
        self._parts, self._url = parts, url
        self._losses = 0
        self._tries: Counter[str] = Counter()

    def run(self, stop: threading.Event) -> None:
        """Consume over one connection after the other, until the stop."""
        while not stop.is_set():
            try:
                self._consume(stop)
            except Exception as problem:  # without broker or database nothing can take effect: it all comes again
                self._losses += 1
                if self._losses == 1:
                    self._say(problem)
                stop.wait(self._pause(self._losses))

    def _consume(self, stop: threading.Event) -> None:
        parameters = pika.URLParameters(self._url)
        parameters.heartbeat = 20
        parameters.socket_timeout = parameters.stack_timeout = 5
        connection = pika.BlockingConnection(parameters)
        try:
            channel = connection.channel()
            declare(channel)
            channel.basic_qos(prefetch_count=PREFETCH)
            channel.basic_consume(QUEUE, partial(self._take, stop))
            while not stop.is_set():
                connection.process_data_events(LOOK_FOR_STOP_S)
                self._losses = 0
        finally:
            if connection.is_open:
                connection.close()

    def _take(self, stop: threading.Event, channel: Any, method: Any, properties: Any, body: bytes) -> None:
        try:
            join = joins.read(method.routing_key, properties.message_id, body)
        except Unreadable as problem:
            LOG.warning("join_unreadable", problem=problem.message)
            self._lay_aside(channel, method, "unreadable")
            return
        try:
            with self._parts.database.writing() as session:
                first = joins.count(session, join, self._parts.clock())
        except Exception as problem:
            if is_outage(problem):
                raise
            self._failed(stop, channel, method, join, problem)
            return
        self._tries.pop(join.message_id, None)
        self._parts.metrics.joins_taken.labels("counted" if first else "known").inc()
        channel.basic_ack(method.delivery_tag)

    def _failed(self, stop: threading.Event, channel: Any, method: Any, join: Join, problem: Exception) -> None:
        """It comes again, here or at another worker; the others must not wait for it for ever."""
        self._tries[join.message_id] += 1
        tries = self._tries[join.message_id]
        LOG.error("join_failed", message_id=join.message_id, tries=tries, problem=type(problem).__name__)
        if tries >= MOST_TRIES:
            del self._tries[join.message_id]
            self._lay_aside(channel, method, "failed")
        else:
            stop.wait(self._pause(tries))
            channel.basic_nack(method.delivery_tag, requeue=True)

    def _lay_aside(self, channel: Any, method: Any, outcome: str) -> None:
        self._parts.metrics.joins_taken.labels(outcome).inc()
        channel.basic_reject(method.delivery_tag, requeue=False)  # the queue keeps it apart

    def _say(self, problem: Exception) -> None:
        away = isinstance(problem, pika.exceptions.AMQPError) or is_outage(problem)
        LOG.warning(
            "joins_not_heard",
            problem=type(problem).__name__,
            meaning="they wait in their queue",
            exc_info=None if away else problem,
        )

    def _pause(self, losses: int) -> float:
        jitter = int.from_bytes(self._parts.entropy(2), "big") / 65536
        return delays(losses - 1, base_ms=FIRST_PAUSE_MS, cap_ms=LONGEST_PAUSE_MS, jitter=jitter) / 1000


def is_outage(problem: Exception) -> bool:
    """Whether database or disk are to blame, and not the letter: what it says is only ever a value in a statement."""
    if isinstance(problem, (DataError, IntegrityError)):
        return False
    return isinstance(problem, (SQLAlchemyError, OSError))


def declare(channel: Any) -> None:
    """The queue of joins, and where the ones go that nobody can read."""
    channel.exchange_declare(EXCHANGE, ExchangeType.topic, durable=True)
    channel.exchange_declare(DEAD_EXCHANGE, ExchangeType.fanout, durable=True)
    channel.queue_declare(DEAD_QUEUE, durable=True)
    channel.queue_bind(DEAD_QUEUE, DEAD_EXCHANGE)
    channel.queue_declare(QUEUE, durable=True, arguments={"x-dead-letter-exchange": DEAD_EXCHANGE})
    for key in joins.STEPS:
        channel.queue_bind(QUEUE, EXCHANGE, key)
