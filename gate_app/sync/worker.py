"""Keeps a gate synchronised with two threads, one pulling and one pushing, independent of each other."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable

from gate_app.sync.client import trace_of
from gate_app.sync.pull import Puller, SyncState
from gate_app.sync.push import Pusher
from shared.backoff import delays
from shared.errors import GatehouseError

BASE_MS, CAP_MS = 500, 30_000
NO_EVENTS_WAIT_S = 10.0
"""How long to wait before the next hello when no event is assigned."""

Jitter = Callable[[], float]
Report = Callable[[str], None]


class Worker:
    """Starts nothing until `start`; ends its threads when `stop` is set."""

    def __init__(
        self,
        *,
        puller: Puller,
        pusher: Pusher,
        sync_state: SyncState,
        stop: threading.Event,
        jitter: Jitter,
        report: Report,
        push_every_s: float,
        pulls: bool = True,
    ) -> None:
        """`report` gets a message when contact is lost, and an empty one when it is back."""
        self._puller = puller
        self._pusher = pusher
        self._sync_state = sync_state
        self._stop = stop
        self._jitter = jitter
        self._report = report
        self._push_every_s = push_every_s
        self._threads = [
            threading.Thread(target=self._run, args=(self.push_once, _no_reset), name="push", daemon=True),
        ]
        if pulls:
            pull = self.pull_once, puller.exchange.greet_again
            self._threads.append(threading.Thread(target=self._run, args=pull, name="pull", daemon=True))

    def start(self) -> None:
        """Starts both threads."""
        for thread in self._threads:
            thread.start()

    def join(self, timeout_s: float) -> None:
        """Waits for both threads after `stop`, at most `timeout_s` each."""
        for thread in self._threads:
            thread.join(timeout_s)

    def pull_once(self) -> float:
        """Makes one request; returns how long to wait before the next, in seconds."""
        self._puller.run_once()
        if self._sync_state.revoked:
            self._puller.exchange.greet_again()
            return CAP_MS / 1000
        if self._puller.exchange.serves_nothing:
            self._puller.exchange.greet_again()
            return NO_EVENTS_WAIT_S
        return 0.0

    def push_once(self) -> float:
        """Sends one batch, if there is one; returns how long to wait before the next, in seconds."""
        return 0.0 if self._pusher.run_once() else self._push_every_s

    def _run(self, once: Callable[[], float], after_failure: Callable[[], None]) -> None:
        failures = 0
        while not self._stop.is_set():
            try:
                pause = once()
                if failures:
                    self._report("")
                failures = 0
            except (GatehouseError, sqlite3.Error) as why:
                pause = self._failed(why, failures)
                failures += 1
                # The server may have been restored or this gate's card replaced, so marks must be compared again.
                after_failure()
            self._stop.wait(pause)

    def _failed(self, why: Exception, failures: int) -> float:
        self._puller.mark_offline()
        if failures == 0:
            self._report(str(why))
            if trace_id := trace_of(why):
                self._report(f"Trace of that request: {trace_id}")
        return delays(failures, base_ms=BASE_MS, cap_ms=CAP_MS, jitter=self._jitter()) / 1000


def _no_reset() -> None:
    """Pushing resumes at the server's mark; it needs no hello."""
