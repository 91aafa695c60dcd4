"""Everything that brings facts out and messages in, and the threads that a worker gives it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.exc import OperationalError

from sync_server.outbox.deliveries import Onward
from sync_server.outbox.relay import BATCH, Relay, broker_relay, house_relay
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.redis_or_not import Loop

LONGEST_REST_S = 0.25
"""Facts of processes that cannot wake this one are found so late at most."""
GATHERED_S = 0.04
"""In a rush facts are gathered for so long: a batch costs as much for one as for fifty. The first goes at once."""
TROUBLED_REST_S = 1.0


@dataclass(frozen=True, slots=True)
class Round:
    """One relay, the bell that wakes it, and whom it wakes when it has delivered."""

    relay: Relay
    bell: threading.Event
    next: Callable[[], None]

    def run(self, stop: threading.Event) -> None:
        """Deliver whenever something is due, at once when the bell rings, until the stop."""
        troubles = 0
        while not stop.is_set():
            self.bell.clear()
            try:
                count = self.run_once()
                troubles = 0
            except Exception as problem:  # the database may be away: facts wait for it there
                troubles, count = troubles + 1, 0
                if troubles == 1:
                    _say(problem)
                stop.wait(TROUBLED_REST_S)
            if count < BATCH:
                if count:
                    stop.wait(GATHERED_S)
                self.bell.wait(LONGEST_REST_S)

    def run_once(self) -> int:
        """One batch; how many facts."""
        delivered = self.relay.run_once()
        if delivered and self.relay.left_waiting:
            self.next()
        return delivered


def _say(problem: Exception) -> None:
    away = isinstance(problem, OperationalError)
    LOG.error("relay_interrupted", problem=type(problem).__name__, exc_info=None if away else problem)


class PostOffice:
    """The relays of this process, and its lines to the broker where one is configured."""

    def __init__(self, parts: Parts) -> None:
        """Opens nothing and starts nothing."""
        told = threading.Event()
        broker: Onward | None = None
        self._lines: list[Loop] = []
        if parts.config.amqp_url is not None:
            from sync_server.outbox.consumer import JoinsConsumer
            from sync_server.outbox.rabbit import Rabbit

            broker = rabbit = Rabbit(parts.config.amqp_url, parts.entropy, told.set)
            parts.lines["amqp"] = rabbit.ready
            self._lines += [rabbit.run, JoinsConsumer(parts, parts.config.amqp_url).run]
        self._rounds = [Round(house_relay(parts, broker), parts.database.stirred, told.set)]
        if broker is not None:
            self._rounds.append(Round(broker_relay(parts, broker), told, lambda: None))

    def run_once(self) -> int:
        """Deliver a batch each way; how many facts the house was told."""
        told = self._rounds[0].run_once()
        for later in self._rounds[1:]:
            later.run_once()
        return told

    def loops(self) -> list[Loop]:
        """What wants a thread of its own each."""
        return [*(one.run for one in self._rounds), *self._lines]
