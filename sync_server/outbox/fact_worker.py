"""Runs the relays of a process, and its broker connections, each on a thread of the worker."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.exc import OperationalError

from sync_server.outbox.broker.relay import BrokerRelay
from sync_server.outbox.relay import Relay
from sync_server.plumbing.backends import Loop
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.telemetry.logs import LOG

LOOK_EVERY_S = 10.0
"""How late facts are found at most that nobody announced, and those of a worker that died."""
GATHER_S = 0.1
"""How long facts are gathered after others: a batch costs as much for one as for fifty. The first goes at once."""
RUSH = 50
"""So many facts in one batch are a rush."""
RUSH_S = 0.25
"""How long facts are gathered then: the more there are, the less does each gain by being early."""
RETRY_S = 1.0


def gathering_s(facts: int) -> float:
    """How long to gather facts after a batch of so many."""
    return RUSH_S if facts >= RUSH else GATHER_S


@dataclass(frozen=True, slots=True)
class RelayLoop:
    """One relay, the event that wakes it, and what to call when there may be work for the next one."""

    relay: Relay | BrokerRelay
    wake_up: threading.Event
    wake_next: Callable[[], None]
    gathers: bool = True  # not what another relay has gathered already

    def run(self, stop: threading.Event) -> None:
        """Deliver whenever something is due, and at once when woken, until the stop."""
        failures, woken = 0, False
        while not stop.is_set():
            self.wake_up.clear()
            try:
                count = self.run_once(woken)
                failures = 0
            except Exception as problem:  # the database may be away: facts wait for it there
                failures, count = failures + 1, 0
                if failures == 1:
                    _log(problem)
                stop.wait(RETRY_S)
            if not self.relay.more:
                if count and self.gathers:
                    stop.wait(gathering_s(count))
                if stop.is_set():  # whoever stops wakes as well, and that may have been before the clearing above
                    return
                woken = self.wake_up.wait(min(self.relay.retry_in_s(), LOOK_EVERY_S))

    def run_once(self, woken: bool = False) -> int:
        """Deliver one batch; returns how many facts it had. Who was woken for nothing was woken for the next one."""
        delivered = self.relay.run_once()
        if delivered or woken:
            self.wake_next()
        return delivered


def _log(problem: Exception) -> None:
    away = isinstance(problem, OperationalError)
    LOG.error("relay_interrupted", problem=type(problem).__name__, exc_info=None if away else problem)


class FactWorker:
    """The relays of this process, and its broker connections where a broker is configured."""

    def __init__(self, parts: Parts) -> None:
        """Connections are opened by the loops, not here."""
        broker_wake_up = threading.Event()
        self._relays = [RelayLoop(Relay(parts), parts.database.work_pending, broker_wake_up.set)]
        self._connections: list[Loop] = []
        if parts.config.amqp_url is not None:
            from sync_server.outbox.broker.consumer import JoinsConsumer
            from sync_server.outbox.broker.rabbit import RabbitDelivery

            rabbit = RabbitDelivery(parts.config.amqp_url, parts.entropy, broker_wake_up.set)
            parts.dependencies["amqp"] = rabbit.ready
            self._connections += [rabbit.run, JoinsConsumer(parts, parts.config.amqp_url).run]
            self._relays.append(RelayLoop(BrokerRelay(parts, rabbit), broker_wake_up, lambda: None, gathers=False))

    def run_once(self) -> int:
        """Deliver a batch at each stage; returns how many facts were delivered locally."""
        delivered = self._relays[0].run_once()
        for relay in self._relays[1:]:
            relay.run_once()
        return delivered

    def wake(self) -> None:
        """Have the loops look up, also where they wait: at the stop."""
        for relay in self._relays:
            relay.wake_up.set()

    def loops(self) -> list[Loop]:
        """The loops that each need a thread."""
        return [*(relay.run for relay in self._relays), *self._connections]
