"""Sends the next request of a snapshot while the last frame is being checked and written."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future

from gate_app.sync.client import VerifiedAnswer
from gate_app.sync.exchange import ApiCall


class Prefetch:
    """At most one request under way in a thread of its own."""

    def __init__(self, send: Callable[[ApiCall], VerifiedAnswer]) -> None:
        self._send = send
        self._under_way: Future[VerifiedAnswer] | None = None

    def start(self, call: ApiCall) -> None:
        """Sends this call; the next `take` returns the answer to it."""
        answer: Future[VerifiedAnswer] = Future()
        self._under_way = answer
        threading.Thread(target=self._run, args=(call, answer), name="prefetch", daemon=True).start()

    def take(self) -> VerifiedAnswer | None:
        """Waits for the answer; None if nothing was sent. Raises what the client raised."""
        under_way, self._under_way = self._under_way, None
        return under_way.result() if under_way is not None else None

    def drop(self) -> None:
        """Forgets the request: its answer no longer matters."""
        self._under_way = None

    def _run(self, call: ApiCall, answer: Future[VerifiedAnswer]) -> None:
        try:
            answer.set_result(self._send(call))
        except BaseException as why:  # whatever it is, the thread that takes the answer must hear of it
            answer.set_exception(why)
