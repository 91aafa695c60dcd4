"""Carries facts to RabbitMQ, over one line after the other for as long as the worker runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial

from shared.backoff import delays
from shared.ids import Entropy
from sync_server.outbox.broker_line import Batch, BrokerLine
from sync_server.outbox.deliveries import Outcome
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.work import Message

CONFIRMED_WITHIN_S = 5.0
"""The house hears nothing new for so long when the broker takes facts and says nothing."""
FIRST_PAUSE_MS = 200
LONGEST_PAUSE_MS = 5_000


class Rabbit:
    """A delivery; `run` keeps the line up on a thread of its own, `deliver` is called by the relay on another."""

    def __init__(self, url: str, entropy: Entropy, came_up: Callable[[], None]) -> None:
        """Connects nowhere yet; `came_up` is called whenever a line is up."""
        self._url, self._entropy, self._came_up = url, entropy, came_up
        self._line: BrokerLine | None = None
        self._losses = 0

    def run(self, stop: threading.Event) -> None:
        """Keep a line up until the stop."""
        while not stop.is_set():
            self._serve_one(stop)
            stop.wait(self._pause() / 1000)

    def ready(self) -> bool:
        """Whether a line is up."""
        return self._line is not None and not self._line.blocked

    def deliver(self, messages: Sequence[Message]) -> Outcome:
        """Publish them in their order and wait for the broker to have them safe."""
        return self.begin(messages)()

    def begin(self, messages: Sequence[Message]) -> Callable[[], Outcome]:
        """Publish them in their order; what is answered waits for the broker to have them safe."""
        line, batch = self._line, Batch(messages)
        if line is None:
            batch.break_off()
            return lambda: batch.outcome
        line.post(batch)
        return partial(self._confirmed, line, batch)

    def _confirmed(self, line: BrokerLine, batch: Batch) -> Outcome:
        if not batch.done.wait(CONFIRMED_WITHIN_S):
            # Whatever this line still says would come too late: the facts go over another.
            line.hang_up()
            batch.done.wait(CONFIRMED_WITHIN_S)
        return batch.outcome

    def _serve_one(self, stop: threading.Event) -> None:
        line = BrokerLine(self._url, stop, opened=lambda: self._opened(line))
        try:
            line.serve()
        except Exception as problem:  # whatever breaks a line, the next one is tried
            line.problem = line.problem or type(problem).__name__
        self._line = None
        self._losses += 1
        if self._losses == 1 and not stop.is_set():
            LOG.warning("broker_away", problem=line.problem, meaning="facts are kept and sent when it is back")

    def _opened(self, line: BrokerLine) -> None:
        self._line = line
        if self._losses:
            LOG.info("broker_back")
        self._losses = 0
        self._came_up()

    def _pause(self) -> int:
        jitter = int.from_bytes(self._entropy(2), "big") / 65536
        return delays(self._losses - 1, base_ms=FIRST_PAUSE_MS, cap_ms=LONGEST_PAUSE_MS, jitter=jitter)
