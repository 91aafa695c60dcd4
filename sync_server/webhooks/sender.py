"""Sends what is due: each webhook in a lane of its own, so that none waits for another that is slow or dead."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Final, TypeVar

from sqlalchemy.exc import OperationalError

from sync_server.plumbing import waking
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.webhooks import rules, signing
from sync_server.webhooks.enqueuing import SEND
from sync_server.webhooks.models import WebhookMessageRow
from sync_server.webhooks.outgoing import outgoing
from sync_server.webhooks.posting import Poster, UndeliverableError
from sync_server.webhooks.rules import Attempt, Problem
from sync_server.webhooks.turns import Turn, Turns

T = TypeVar("T")

LANES: Final = 64
SLOW_LANES: Final = 32
"""For webhooks that fail, or take long: they never take the lanes of the others."""
_STOP_S: Final = 2.0
_THREADS: Final = 4
_LOOKUPS: Final = 16
_CROWDED_S: Final = 5.0
"""While something is due that no lane is free for, or that another worker is about to send."""
_FAILED_S: Final = 5.0
"""After a failure of the database: messages wait for it there."""
AGENT: Final = "Gatehouse-Webhooks/1"


class WebhookSender:
    """The worker's part of webhooks. Several workers may share one database."""

    def __init__(self, parts: Parts) -> None:
        """Opens nothing yet."""
        self._parts, self._out = parts, outgoing(parts)
        self._turns = Turns(parts)
        self._threads, self._resolver = ThreadPoolExecutor(_THREADS, "webhooks"), ThreadPoolExecutor(_LOOKUPS, "names")
        self._lanes: dict[asyncio.Task[None], bool] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()

    def run(self, stop: threading.Event) -> None:
        """Send until the stop."""
        try:
            asyncio.run(self._run(stop))
        finally:
            self._end_threads()

    def wake(self) -> None:
        """Have the loop look what is due, and whether it is to stop; on any thread."""
        with suppress(RuntimeError):  # it has ended
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._woken.set)

    def run_once(self) -> int:
        """One turn for each webhook that something is due for; how many that were."""
        if not self._anything_due():
            return 0
        try:
            with ThreadPoolExecutor(1, "webhooks once") as alone:  # the calling thread may run a loop of its own
                return alone.submit(asyncio.run, self._run_once()).result()
        finally:
            self._end_threads()

    def _end_threads(self) -> None:
        for threads in (self._threads, self._resolver):
            threads.shutdown(wait=False)

    async def _run_once(self) -> int:
        self._poster = Poster(self._parts.config, self._resolver)
        count = await self._start_lanes()
        await asyncio.gather(*self._lanes)
        return count

    def _anything_due(self) -> bool:
        at = self._turns.next_at()
        return at is not None and at <= self._parts.clock()

    async def _run(self, stop: threading.Event) -> None:
        self._poster, self._loop = Poster(self._parts.config, self._resolver), asyncio.get_running_loop()
        with waking.on_wake(self._parts.backends, [SEND], lambda _: self.wake()):
            while not stop.is_set():
                self._woken.clear()
                pause_s = await self._guarded_start()
                if not stop.is_set():  # whoever stops wakes as well, and that may have been before the clearing above
                    await self._wait(pause_s)
        await self._leave()

    async def _guarded_start(self) -> float:
        """Start what is due; how long until the next is, as far as is known."""
        try:
            at, now = await self._in_thread(self._turns.next_at), self._parts.clock()
            if at is not None and at <= now:
                return 0 if await self._start_lanes() else _CROWDED_S
        except Exception as problem:  # the database may be away: messages wait for it there
            _log(problem)
            return _FAILED_S
        look_ms = waking.look_ms(self._parts.backends)
        return (look_ms if at is None else min(at - now, look_ms)) / 1000

    async def _start_lanes(self) -> int:
        """Lease what is due, as far as there are lanes, and begin a turn for each."""
        begun = 0
        for slow, lanes in ((False, LANES), (True, SLOW_LANES)):
            free = lanes - sum(one is slow for one in self._lanes.values())
            for turn in await self._in_thread(partial(self._turns.lease, free, slow=slow)):
                lane = asyncio.create_task(self._lane(turn))
                self._lanes[lane] = slow
                lane.add_done_callback(self._lanes.pop)
                begun += 1
        return begun

    async def _wait(self, seconds: float) -> None:
        """Until somebody wakes the loop, or so long."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), seconds)

    async def _leave(self) -> None:
        """What is under way may end; what takes longer is cancelled, and tried again by the next worker."""
        if self._lanes:
            _, late = await asyncio.wait(self._lanes, timeout=_STOP_S)
            for lane in late:
                lane.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _lane(self, turn: Turn) -> None:
        try:
            await self._send(turn)
            await self._in_thread(partial(self._turns.end, turn))
        except Exception as problem:  # the lease ends by itself, and then it is tried again
            _log(problem)
        finally:
            self._woken.set()  # a lane is free, and more may be due

    async def _send(self, turn: Turn) -> None:
        while messages := await self._in_thread(partial(self._turns.next, turn)):
            for message in messages:
                if not turn.goes_on(self._parts.clock()):
                    return
                if message.stream not in turn.failed_streams:
                    attempt = await self._attempt(turn, message)
                    await self._in_thread(partial(self._turns.note, turn, message, attempt))
                    self._tell(message, attempt)

    async def _attempt(self, turn: Turn, message: WebhookMessageRow) -> Attempt:
        at, began = self._parts.clock(), self._parts.monotonic()
        if not turn.secrets:
            return Attempt(at, 0, problem=Problem.UNREADABLE)
        headers = _headers(turn.secrets, message, at // 1000)
        try:
            answer = await self._poster.post(turn.webhook.url, headers, message.body)
        except UndeliverableError as failure:
            return Attempt(at, self._ms_since(began), problem=failure.problem)
        status = answer.status or 0
        wait_s = int(answer.retry_after) if answer.retry_after.isdecimal() and len(answer.retry_after) < 9 else None
        return Attempt(at, self._ms_since(began), status, rules.problem_of(status), answer.start, wait_s)

    def _ms_since(self, began: int) -> int:
        return (self._parts.monotonic() - began) // 1_000_000

    def _tell(self, message: WebhookMessageRow, attempt: Attempt) -> None:
        outcome = attempt.problem.value if attempt.problem else "delivered"
        self._out.attempts.labels(outcome).inc()
        self._out.seconds.observe(attempt.ms / 1000)
        tell = LOG.info if attempt.delivered else LOG.warning
        tell(
            "webhook_attempt",
            organisation_id=message.organisation_id,
            webhook_id=message.webhook_id,
            message_id=message.message_id,
            fact=message.fact,
            attempt=message.attempts + 1,
            outcome=outcome,
            status=attempt.status,
            ms=attempt.ms,
        )

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _log(problem: Exception) -> None:
    away = isinstance(problem, OperationalError)
    LOG.error("webhooks_interrupted", problem=type(problem).__name__, exc_info=None if away else problem)


def _headers(secrets: Sequence[str], message: WebhookMessageRow, seconds: int) -> dict[str, str]:
    return {
        "content-type": "application/json",
        "user-agent": AGENT,
        "webhook-id": message.message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": signing.signatures(secrets, message.message_id, seconds, message.body),
    }
