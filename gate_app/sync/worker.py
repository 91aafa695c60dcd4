"""Two threads that keep a gate in step with its server: down and up, neither waiting for the other."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable

from gate_app.sync.pull import Puller, Standing
from gate_app.sync.push import Pusher
from shared.backoff import delays
from shared.errors import GatehouseError

BASE_MS, CAP_MS = 500, 30_000
FRUITLESS_S = 10.0
"""How long to wait before asking again who we are, when nothing is assigned."""

Jitter = Callable[[], float]
Report = Callable[[str], None]


class Worker:
    """Starts nothing until `start`; ends both threads when `stop` is set."""

    def __init__(
        self,
        *,
        puller: Puller,
        pusher: Pusher,
        standing: Standing,
        stop: threading.Event,
        jitter: Jitter,
        report: Report,
        push_every_s: float,
    ) -> None:
        """`report` is told once when the server goes away in a new way, and with no words when it is back."""
        self._puller = puller
        self._pusher = pusher
        self._standing = standing
        self._stop = stop
        self._jitter = jitter
        self._report = report
        self._push_every_s = push_every_s
        self._threads = [
            threading.Thread(
                target=self._run, args=(self.pull_once, puller.exchange.greet_again), name="pull", daemon=True
            ),
            threading.Thread(target=self._run, args=(self.push_once, _nothing), name="push", daemon=True),
        ]

    def start(self) -> None:
        """Both directions, from now on."""
        for thread in self._threads:
            thread.start()

    def join(self, timeout_s: float) -> None:
        """After `stop`: waits for both, though never for a server that does not answer."""
        for thread in self._threads:
            thread.join(timeout_s)

    def pull_once(self) -> float:
        """One request; answers how long to wait before the next."""
        self._puller.run_once()
        if self._standing.revoked:
            self._puller.exchange.greet_again()
            return CAP_MS / 1000
        if self._puller.exchange.serves_nothing:
            self._puller.exchange.greet_again()
            return FRUITLESS_S
        return 0.0

    def push_once(self) -> float:
        """One batch, if there is anything to send."""
        return 0.0 if self._pusher.run_once() else self._push_every_s

    def _run(self, once: Callable[[], float], after_silence: Callable[[], None]) -> None:
        failures = 0
        while not self._stop.is_set():
            try:
                pause = once()
                if failures:
                    self._report("")
                failures = 0
            except (GatehouseError, sqlite3.Error) as why:
                pause = self._failed(str(why), failures)
                failures += 1
                # The server may have been restored, or this gate's card exchanged: marks are compared anew.
                after_silence()
            self._stop.wait(pause)

    def _failed(self, words: str, failures: int) -> float:
        self._puller.silent()
        if failures == 0:
            self._report(words)
        return delays(failures, base_ms=BASE_MS, cap_ms=CAP_MS, jitter=self._jitter()) / 1000


def _nothing() -> None:
    """Uploads begin where the mark is; there is nothing to ask first."""
