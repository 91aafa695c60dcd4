"""The application of the streams listener: runs the view, and then holds open what the view handed over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from email.utils import formatdate
from typing import Any, Final, cast
from urllib.parse import urlsplit
from wsgiref.types import WSGIApplication

import orjson

from shared.errors import GatehouseError, InvalidRequest, NotFound, TooLarge, Unavailable
from shared.wire.protocol import CHANGES
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.waiting import wsgi_call
from sync_server.waiting.channels import Hub
from sync_server.waiting.handing_over import Answer, LongPoll, Stream
from sync_server.waiting.places import Places
from sync_server.waiting.readers import Reader
from sync_server.waiting.wakeups import Wakeups

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
RawHeaders = list[tuple[bytes, bytes]]

MAX_BODY: Final = 1024 * 1024
BODY_WITHIN_S: Final = 10
MAX_OPENING: Final = 4_096
"""Requests that may wait for a pool thread; more are refused at once."""
ONLY_STREAMS: Final = "This address serves streams only. Send other requests to the address of the server."
HINT: Final = b"retry: 2000\n\n"
UNSENT: Final = frozenset({"content-length", "connection", "transfer-encoding"})


class StreamsApp:
    """The ASGI application; everything runs on one loop."""

    def __init__(self, parts: Parts, wsgi_app: WSGIApplication) -> None:
        self._parts, self._wsgi_app = parts, wsgi_app
        self.hub = Hub(parts)
        self.places = Places(parts.config.streams, parts.config.streams_per_address)
        self._opening = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http":
            cors = _cors(scope)
            try:
                await self._answer(scope, receive, send, cors)
            except GatehouseError as error:
                await _send_answer(_refusal(error), send, cors)
            except TimeoutError:
                await _send_answer(_refusal(InvalidRequest("The body did not arrive in time.")), send, cors)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, cors: RawHeaders) -> None:
        if scope["method"] != "GET" and scope["path"] != CHANGES:
            raise NotFound(ONLY_STREAMS)
        async with asyncio.timeout(BODY_WITHIN_S):
            body = await _body(receive)
        called = await self._call(scope, body)
        handed_over = called.handed_over
        if called.answer.status >= 400:
            await _send_answer(called.answer, send, cors)
            return
        if handed_over is None:
            # Everything else stays on the server's own address, whose limits and headers are made for it.
            raise NotFound(ONLY_STREAMS)
        waiting = handed_over.waiting
        counted = self._parts.metrics.streams_open.labels(waiting.kind.value)
        with self.places.taking(waiting.kind, handed_over.address), counted.track_inprogress():
            if isinstance(waiting, Stream):
                await self._hold_open(waiting, (called.answer.status, [*_raw(called.answer), *cors]), receive, send)
            else:
                await self._wait(waiting, called.answer, receive, send, cors)

    async def _call(self, scope: Scope, body: bytes) -> wsgi_call.Called:
        if self._opening >= MAX_OPENING:
            raise Unavailable("Too many streams are being opened. Try again.", code="too_many_streams", retry_after=2)
        self._opening += 1
        try:
            return await self.hub.on_thread(wsgi_call.call, self._wsgi_app, scope, body)
        finally:
            self._opening -= 1

    async def _hold_open(self, stream: Stream, head: tuple[int, RawHeaders], receive: Receive, send: Send) -> None:
        reader = Reader(cast("asyncio.Task[None]", asyncio.current_task()), stream.access)
        await send({"type": "http.response.start", "status": head[0], "headers": head[1]})
        leaving = asyncio.create_task(_end_when_gone(receive, reader))
        try:
            with self.hub.joined(stream, reader) as channel:
                await send({"type": "http.response.body", "body": HINT, "more_body": True})
                await channel.started()
                reader.open(await self.hub.on_thread(_opening, stream))
                while text := await reader.next():
                    await send({"type": "http.response.body", "body": text, "more_body": True})
        except asyncio.CancelledError:
            await _abort(send, leaving)
            return
        except Exception as problem:
            LOG.warning("stream_ended", problem=type(problem).__name__)
        finally:
            leaving.cancel()
        await send({"type": "http.response.body"})

    async def _wait(self, poll: LongPoll, head: Answer, receive: Receive, send: Send, cors: RawHeaders) -> None:
        with Wakeups(self._parts.bus, poll.topics) as wakeups:
            self.hub.polls.add(wakeups)
            leaving = asyncio.create_task(_wake_when_gone(receive, wakeups))
            try:
                answer = await self._polled(poll, wakeups, leaving)
            finally:
                leaving.cancel()
                self.hub.polls.discard(wakeups)
        if answer is not None:
            own = {name.lower() for name, _ in answer.headers}
            headers = [*(each for each in head.headers if each[0].lower() not in own), *answer.headers]
            await _send_answer(Answer(answer.status, headers, answer.body), send, cors)

    async def _polled(self, poll: LongPoll, wakeups: Wakeups, leaving: asyncio.Task[None]) -> Answer | None:
        loop = asyncio.get_running_loop()
        until = loop.time() + poll.wait_s
        while not leaving.done():
            over = loop.time() >= until or self._parts.stop.is_set()
            answer = await self.hub.on_thread(poll.answer, over)
            if isinstance(answer, Answer):
                return answer
            await wakeups.wait(max(0.0, min(answer, self.hub.look_every_s(), until - loop.time())))
        return None


def _opening(stream: Stream) -> list[Any]:
    return list(stream.opening())


async def _abort(send: Send, leaving: asyncio.Task[None]) -> None:
    """Cut off a reader that does not read: closing politely would wait for it to read what was written."""
    LOG.info("slow_reader")
    transport: asyncio.Transport = send.__self__.transport  # type: ignore[attr-defined]  # ASGI has no word for it
    transport.abort()
    await asyncio.wait([leaving], timeout=1)


async def _end_when_gone(receive: Receive, reader: Reader) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    reader.ended = True
    reader.end()


async def _wake_when_gone(receive: Receive, wakeups: Wakeups) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    wakeups.wake()


async def _body(receive: Receive) -> bytes:
    parts, more, size = [], True, 0
    while more:
        message = await receive()
        more = message.get("more_body", False)
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY:
            raise TooLarge
    return b"".join(parts)


def _cors(scope: Scope) -> RawHeaders:
    """Let pages of the same host read streams: the listener differs from the server in its port only."""
    headers = dict(scope["headers"])
    origin, host = headers.get(b"origin", b""), headers.get(b"host", b"")
    same = urlsplit(origin.decode("latin-1")).hostname == urlsplit(f"//{host.decode('latin-1')}").hostname
    if not origin or not same:
        return []
    return [
        (b"access-control-allow-origin", origin),
        (b"access-control-allow-credentials", b"true"),
        (b"vary", b"Origin"),
    ]


def _refusal(error: GatehouseError) -> Answer:
    body = orjson.dumps({"error": {"code": error.error_code, "message": error.message}})
    headers = [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
    if error.retryable:
        headers.append(("Retry-After", str(error.details.get("retry_after", 2))))
    return Answer(error.status, headers, body)


def _raw(answer: Answer) -> RawHeaders:
    date = (b"date", formatdate(usegmt=True).encode())
    given = ((name.lower(), value) for name, value in answer.headers)
    return [date, *((name.encode("latin-1"), value.encode("latin-1")) for name, value in given if name not in UNSENT)]


async def _send_answer(answer: Answer, send: Send, cors: RawHeaders) -> None:
    length = (b"content-length", str(len(answer.body)).encode())
    await send({"type": "http.response.start", "status": answer.status, "headers": [*_raw(answer), length, *cors]})
    await send({"type": "http.response.body", "body": answer.body})
