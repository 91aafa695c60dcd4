"""Consumes the join service's messages from RabbitMQ; a message is acknowledged once its effect is committed."""

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
from sync_server.outbox.broker import joins
from sync_server.outbox.broker.joins import Join
from sync_server.outbox.broker.messages import EXCHANGE
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.telemetry.logs import LOG

QUEUE: Final = "gatehouse.joins"
DEAD_EXCHANGE: Final = "gatehouse.dead"
DEAD_QUEUE: Final = "gatehouse.joins.dead"
PREFETCH: Final = 10
STOP_POLL_S: Final = 0.2
FIRST_PAUSE_MS: Final = 200
LONGEST_PAUSE_MS: Final = 5_000
MAX_ATTEMPTS: Final = 5
"""A worker rejects a message after so many failures while database and disk were well."""


class JoinsConsumer:
    """Consumes `join.confirmed` and `join.canceled` for as long as the worker runs."""

    def __init__(self, parts: Parts, url: str) -> None:
        """`run` opens the connection."""
        self._parts, self._url = parts, url
        self._losses = 0
        self._attempts: Counter[str] = Counter()

    def run(self, stop: threading.Event) -> None:
        """Consume until the stop, reconnecting after every failure."""
        while not stop.is_set():
            try:
                self._consume(stop)
            except Exception as problem:  # without broker or database nothing is acknowledged, so it all comes again
                self._losses += 1
                if self._losses == 1:
                    self._log(problem)
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
            channel.basic_consume(QUEUE, partial(self._on_message, stop))
            while not stop.is_set():
                connection.process_data_events(STOP_POLL_S)
                self._losses = 0
        finally:
            if connection.is_open:
                connection.close()

    def _on_message(self, stop: threading.Event, channel: Any, method: Any, properties: Any, body: bytes) -> None:
        try:
            join = joins.read(method.routing_key, properties.message_id, body)
        except Unreadable as problem:
            LOG.warning("join_unreadable", problem=problem.message)
            self._reject(channel, method, "unreadable")
            return
        try:
            with self._parts.database.writing() as session:
                counted = joins.count(session, join, self._parts.clock())
        except Exception as problem:
            if is_outage(problem):
                raise
            self._failed(stop, channel, method, join, problem)
            return
        self._attempts.pop(join.message_id, None)
        self._parts.metrics.joins_taken.labels("counted" if counted else "known").inc()
        channel.basic_ack(method.delivery_tag)

    def _failed(self, stop: threading.Event, channel: Any, method: Any, join: Join, problem: Exception) -> None:
        """Requeue it for this worker or another; after too many failures reject it, so that others need not wait."""
        self._attempts[join.message_id] += 1
        attempts = self._attempts[join.message_id]
        LOG.error("join_failed", message_id=join.message_id, tries=attempts, problem=type(problem).__name__)
        if attempts >= MAX_ATTEMPTS:
            del self._attempts[join.message_id]
            self._reject(channel, method, "failed")
        else:
            stop.wait(self._pause(attempts))
            channel.basic_nack(method.delivery_tag, requeue=True)

    def _reject(self, channel: Any, method: Any, outcome: str) -> None:
        self._parts.metrics.joins_taken.labels(outcome).inc()
        channel.basic_reject(method.delivery_tag, requeue=False)  # to the dead-letter exchange

    def _log(self, problem: Exception) -> None:
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
    """Whether database or disk failed, rather than the message: its content is only ever a value in a statement."""
    if isinstance(problem, (DataError, IntegrityError)):
        return False
    return isinstance(problem, (SQLAlchemyError, OSError))


def declare(channel: Any) -> None:
    """Declare the queue of joins, and the dead-letter queue for those that cannot be processed."""
    channel.exchange_declare(EXCHANGE, ExchangeType.topic, durable=True)
    channel.exchange_declare(DEAD_EXCHANGE, ExchangeType.fanout, durable=True)
    channel.queue_declare(DEAD_QUEUE, durable=True)
    channel.queue_bind(DEAD_QUEUE, DEAD_EXCHANGE)
    channel.queue_declare(QUEUE, durable=True, arguments={"x-dead-letter-exchange": DEAD_EXCHANGE})
    for key in joins.STEPS:
        channel.queue_bind(QUEUE, EXCHANGE, key)
