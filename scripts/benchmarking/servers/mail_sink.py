"""A mail server on loopback that takes every mail, and only counts them: so that mails are really sent."""

from __future__ import annotations

import threading
import time
from typing import Any

from aiosmtpd.controller import Controller

from scripts.processes.ports import LOOPBACK, free_port


class MailSink:
    """Listens from `start` on."""

    def __init__(self) -> None:
        self.arrived, self.megabytes = 0, 0.0
        self._changed = threading.Condition()
        self._controller = Controller(self, hostname=LOOPBACK, port=free_port())

    @property
    def url(self) -> str:
        """Where it listens, as a setting of the server."""
        return f"smtp://{LOOPBACK}:{self._controller.port}"

    def start(self) -> None:
        """Take mails."""
        self._controller.start()

    def stop(self) -> None:
        """Take no more."""
        self._controller.stop()

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        """A mail has arrived."""
        with self._changed:
            self.arrived, self.megabytes = self.arrived + 1, self.megabytes + len(envelope.content) / 1e6
            self._changed.notify_all()
        return "250 taken"

    def wait_for(self, count: int, *, at_most_s: float) -> float:
        """Wait until so many have arrived; returns the seconds. TimeoutError after `at_most_s`."""
        started = time.perf_counter()
        with self._changed:
            if not self._changed.wait_for(lambda: self.arrived >= count, at_most_s):
                raise TimeoutError(f"{self.arrived} of {count} mails after {at_most_s} s")
        return time.perf_counter() - started
