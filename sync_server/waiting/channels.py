"""Streams with the same contents share a channel, which makes each text once and gives it to all readers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from shared.errors import GatehouseError
from sync_server.plumbing.messaging.bus import Notification
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.plumbing.waking import look_ms
from sync_server.waiting.handing_over import Access, Stream, StreamEnded, StreamText
from sync_server.waiting.readers import Reader
from sync_server.waiting.wakeups import Wakeups

T = TypeVar("T")

THREADS: Final = 8
SLICE: Final = 100
"""Readers that are written to before other work gets its turn."""
SLICE_PAUSE_S: Final = 0.002
HEARTBEAT: Final = StreamText(b": heartbeat\n\n")
HEARTBEAT_EVERY_S: Final = 15.0
RECHECK_EVERY_S: Final = 20.0
"""How often rights are checked again: a revoked reader is cut off within a minute."""


class Hub:
    """All channels of one listener; used on its loop only."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="streams")
        started = threading.Barrier(THREADS)
        for _ in range(THREADS):  # all start now, so that later nothing that waits adds one
            self._threads.submit(started.wait)
        self._channels: dict[Hashable, Channel] = {}
        self.polls: set[Wakeups] = set()
        """Of the long polls that wait."""

    def look_every_s(self) -> float:
        """How long whoever waits rests without being woken; shorter while the bus is away, which announces changes."""
        return look_ms(self.parts.backends) / 1000

    async def on_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run what asks the database on a pool thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    @contextmanager
    def joined(self, stream: Stream, reader: Reader) -> Iterator[Channel]:
        """The channel of a stream, which the reader belongs to for the time of a block."""
        channel = self._channels.get(stream.key)
        if channel is None or channel.closed:
            channel = self._channels[stream.key] = Channel(self, stream)
        channel.readers[reader] = None
        try:
            yield channel
        finally:
            channel.leave(reader)
            if channel.closed and self._channels.get(stream.key) is channel:
                del self._channels[stream.key]

    async def keep(self, stopped: asyncio.Event) -> None:
        """Send heartbeats and check rights until the server stops, then end all streams."""
        async with asyncio.TaskGroup() as group:
            routines = [
                group.create_task(_repeat(HEARTBEAT_EVERY_S, self._send_heartbeats)),
                group.create_task(_repeat(RECHECK_EVERY_S, self.recheck)),
            ]
            await stopped.wait()
            for routine in routines:
                routine.cancel()
        for reader in self._readers():
            reader.end()
        for poll in self.polls:
            poll.wake()

    async def _send_heartbeats(self) -> None:
        await in_slices([reader for reader in self._readers() if reader.idle], lambda reader: reader.send(HEARTBEAT))

    async def recheck(self) -> None:
        """Cut off the readers that have lost their rights."""
        by_access: dict[Hashable, list[Reader]] = {}
        checks: dict[Hashable, Access] = {}
        for reader in self._readers():
            if reader.access is not None:
                by_access.setdefault(reader.access.key, []).append(reader)
                checks[reader.access.key] = reader.access
        for key, access in checks.items():
            if not await self._is_allowed(access):
                for reader in by_access[key]:
                    reader.end()

    async def _is_allowed(self, access: Access) -> bool:
        try:
            return await self.on_thread(access.allowed)
        except (SQLAlchemyError, GatehouseError) as problem:  # readers get the error when they reconnect
            LOG.warning("stream_ended", problem=type(problem).__name__)
            return False

    def _readers(self) -> list[Reader]:
        return [reader for channel in self._channels.values() for reader in channel.readers]

    def close(self) -> None:
        """Let the pool threads end."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class Channel:
    """One source and its readers; ends with the last of them, or with the source."""

    def __init__(self, hub: Hub, stream: Stream) -> None:
        self._hub, self._stream = hub, stream
        self.readers: dict[Reader, None] = {}
        self.closed = False
        self._wakeups = Wakeups(hub.parts.bus, stream.topics)
        self._started = asyncio.Event()
        self._task = asyncio.create_task(self._run())
        self._task.add_done_callback(lambda _: self._wakeups.close())

    async def started(self) -> None:
        """Wait until the source hears everything that happens from now on."""
        await self._started.wait()

    def leave(self, reader: Reader) -> None:
        """Forget a reader."""
        self.readers.pop(reader, None)
        if not self.readers:
            self.closed = True
            self._task.cancel()

    async def _run(self) -> None:
        last: bytes = b""
        try:
            await self._follow()
        except StreamEnded as ended:
            last = ended.last
        except (SQLAlchemyError, GatehouseError) as problem:  # readers get the error when they reconnect
            LOG.warning("stream_ended", problem=type(problem).__name__)
        except Exception as problem:
            LOG.error("stream_failed", exc_info=problem)
        finally:
            self.closed = True
            self._started.set()
        for reader in list(self.readers):
            if last:
                reader.send(StreamText(last))
            reader.end()

    async def _follow(self) -> None:
        loop, source = asyncio.get_running_loop(), self._stream.make_source()
        await self._hub.on_thread(source.start)
        self._started.set()
        updated_at = looked_at = loop.time()
        while True:
            look_in = looked_at + self._hub.look_every_s() - loop.time()
            notes, missed = await self._wakeups.wait(max(0.0, min(source.due_s(), look_in)))
            pause = updated_at + source.pace_s - loop.time()
            if pause > 0:
                await asyncio.sleep(pause)
            updated_at = loop.time()
            look = missed or updated_at >= looked_at + self._hub.look_every_s()
            looked_at = updated_at if look else looked_at
            await self._send_all(await self._hub.on_thread(_updated, source, notes, look))

    async def _send_all(self, texts: Sequence[StreamText]) -> None:
        for text in texts:
            await in_slices(list(self.readers), lambda reader, text=text: reader.send(text))  # type: ignore[misc]


def _updated(source: Any, notes: Sequence[Notification], look: bool) -> list[StreamText]:
    return list(source.update(notes, look=look))


async def _repeat(every_s: float, routine: Callable[[], Awaitable[None]]) -> None:
    while True:
        await asyncio.sleep(every_s)
        await routine()


async def in_slices(readers: Iterable[Reader], send: Callable[[Reader], None]) -> None:
    """Send to many readers, with pauses in which other work gets its turn."""
    for n, reader in enumerate(readers, 1):
        send(reader)
        if n % SLICE == 0:
            await asyncio.sleep(SLICE_PAUSE_S)
