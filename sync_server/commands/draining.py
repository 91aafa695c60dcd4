"""The server processes, and how they end: first they say that they are no longer ready, and a while later they stop."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from contextlib import suppress
from typing import Any, Final

from granian.server.mp import MPServer, WorkerProcess

from sync_server.seating.search import row_shares

DRAIN: Final = signal.SIGUSR1
"""From the main process to those that serve: answer on, but say that you are leaving."""


class DrainingServer(MPServer):
    """Granian's server; a second signal ends the wait."""

    def __init__(self, *args: Any, drain_seconds: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._drain_seconds, self._ending = drain_seconds, False
        self.on_shutdown(self._forget_ended)
        signal.signal(DRAIN, signal.SIG_IGN)  # which a process that is only just starting inherits

    def signal_handler_interrupt(self, *_args: Any, **_kwargs: Any) -> None:
        """Let balancers hear of the end before it comes."""
        second, self._ending = self._ending, True
        # Where the signal went to every process, those that serve end by themselves, and nobody replaces them.
        self.respawn_failed_workers = False
        if second or not self._drain_seconds:
            self._stop()
            return
        for child in multiprocessing.active_children():
            with suppress(ProcessLookupError):
                os.kill(child.pid or 0, DRAIN)
        timer = threading.Timer(self._drain_seconds, self._stop)
        timer.daemon = True
        timer.start()

    def _spawn_worker(self, idx: int, target: Any, callback_loader: Any) -> WorkerProcess:  # type: ignore[override]  # as MPServer does
        row_shares.assign(idx, self.workers)
        spawned: WorkerProcess = super()._spawn_worker(idx, target, callback_loader)
        return spawned

    def _stop(self) -> None:
        super().signal_handler_interrupt()  # type: ignore[no-untyped-call]  # Granian's own has no types

    def _forget_ended(self) -> None:
        """Processes that ended because they were told to are no failure."""
        if self._ending:
            self.interrupt_children.clear()
