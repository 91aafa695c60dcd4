"""Delivers facts to RabbitMQ, reconnecting for as long as the worker runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from shared.backoff import delays
from shared.ids import Entropy
from sync_server.outbox.broker.connection import Batch, BrokerConnection
from sync_server.outbox.broker.relay import Outcome
from sync_server.plumbing.jobs import Message
from sync_server.plumbing.telemetry.logs import LOG

CONFIRM_TIMEOUT_S = 5.0
"""How long the broker may take to confirm a batch."""
FIRST_PAUSE_MS = 200
LONGEST_PAUSE_MS = 5_000


class RabbitDelivery:
    """A delivery whose `run` keeps the connection up on a thread of its own; the relay calls `deliver` on another."""

    def __init__(self, url: str, entropy: Entropy, on_connected: Callable[[], None]) -> None:
        """`run` connects; `on_connected` is called whenever a connection is up."""
        self._url, self._entropy, self._on_connected = url, entropy, on_connected
        self._connection: BrokerConnection | None = None
        self._losses = 0

    def run(self, stop: threading.Event) -> None:
        """Keep a connection up until the stop."""
        while not stop.is_set():
            self._serve_one(stop)
            stop.wait(self._pause() / 1000)

    def ready(self) -> bool:
        """Whether a connection is up and the broker accepts messages."""
        return self._connection is not None and not self._connection.blocked

    def deliver(self, messages: Sequence[Message]) -> Outcome:
        """Publish these in order and wait for the broker's confirms."""
        connection, batch = self._connection, Batch(messages)
        if connection is None:
            batch.break_off()
            return batch.outcome
        connection.post(batch)
        if not batch.done.wait(CONFIRM_TIMEOUT_S):
            # Confirms over this connection would come too late: the facts are sent again over another.
            connection.hang_up()
            batch.done.wait(CONFIRM_TIMEOUT_S)
        return batch.outcome

    def _serve_one(self, stop: threading.Event) -> None:
        connection = BrokerConnection(self._url, stop, opened=lambda: self._opened(connection))
        try:
            connection.serve()
        except Exception as problem:  # whatever breaks a connection, the next one is tried
            connection.problem = connection.problem or type(problem).__name__
        self._connection = None
        self._losses += 1
        if self._losses == 1 and not stop.is_set():
            LOG.warning("broker_away", problem=connection.problem, meaning="facts are kept and sent when it is back")

    def _opened(self, connection: BrokerConnection) -> None:
        self._connection = connection
        if self._losses:
            LOG.info("broker_back")
        self._losses = 0
        self._on_connected()

    def _pause(self) -> int:
        jitter = int.from_bytes(self._entropy(2), "big") / 65536
        return delays(self._losses - 1, base_ms=FIRST_PAUSE_MS, cap_ms=LONGEST_PAUSE_MS, jitter=jitter)
