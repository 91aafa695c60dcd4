"""Sends the next requests of a snapshot while the last frame is being checked and written."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future

from gate_app.sync.client import VerifiedAnswer
from gate_app.sync.exchange import ApiCall


class Prefetch:
    """At most two requests under way, each in a thread of its own: the next one, and a guess at the one after it."""

    def __init__(self, send: Callable[[ApiCall], VerifiedAnswer]) -> None:
        self._send = send
        self._under_way: dict[ApiCall, Future[VerifiedAnswer]] = {}
        self._next: ApiCall | None = None

    def start(self, call: ApiCall, guess: ApiCall | None = None) -> None:
        """Sends what is not under way yet, and forgets the rest; the next `take` returns the answer to `call`."""
        known, self._next = self._under_way, call
        self._under_way = {one: known.get(one) or self._sent(one) for one in (call, guess) if one is not None}

    def take(self) -> VerifiedAnswer | None:
        """Waits for the answer; None if nothing was sent. Raises what the client raised, and forgets the rest."""
        call, self._next = self._next, None
        if call is None:
            return None
        try:
            return self._under_way.pop(call).result()
        except BaseException:
            self.drop()
            raise

    def drop(self) -> None:
        """Forgets all requests: their answers no longer matter."""
        self._under_way, self._next = {}, None

    def _sent(self, call: ApiCall) -> Future[VerifiedAnswer]:
        answer: Future[VerifiedAnswer] = Future()
        threading.Thread(target=self._run, args=(call, answer), name="prefetch", daemon=True).start()
        return answer

    def _run(self, call: ApiCall, answer: Future[VerifiedAnswer]) -> None:
        try:
            answer.set_result(self._send(call))
        except BaseException as why:  # whatever it is, the thread that takes the answer must hear of it
            answer.set_exception(why)
