"""Open pages of a seat map, some by streams and some by long polls, that note when they hear of each seat."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import orjson

LONGEST_LINE = 8_000_000
WAIT_S = 20


@dataclass
class MapPage:
    """What one page shows, and when it heard of each seat for the first time."""

    version: str
    seats: bytearray
    first: int
    heard: dict[int, float] = field(default_factory=dict)
    answers: int = 0
    sent_away: int = 0
    came_again: int = 0

    def take(self, news: dict[str, Any]) -> None:
        """Do what a page does with an answer; a page that must look anew is not wanted here."""
        now = time.perf_counter()
        if news["reset"]:
            raise RuntimeError(f"a page is told to look anew: {news['reset']}")
        self.answers += 1
        self.version = news["version"]
        for seat, state in news["seats"]:
            self.seats[seat - self.first] = state
            self.heard.setdefault(seat, now)


class MapPages:
    """Many pages on one thread of their own, until they are closed."""

    def __init__(self, address: str, path: str, token: str, streams: list[MapPage], polls: list[MapPage]) -> None:
        """Streams are organisers' (`token`), who see held seats as held; long polls are anybody's."""
        where = urlsplit(address)
        self._where, self._path, self._token = (where.hostname, where.port), path, token
        self.streams, self.polls = streams, polls
        self.trouble: list[BaseException] = []
        self._open = threading.Semaphore(0)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)

    def __iter__(self) -> Iterator[MapPage]:
        """All of them."""
        return iter([*self.streams, *self.polls])

    def open(self) -> None:
        """Until every page waits for news."""
        self._thread.start()
        for _ in self:
            if not self._open.acquire(timeout=60):
                raise RuntimeError(f"not every page could be opened: {self.trouble}")

    def close(self) -> None:
        """For good."""
        self._closing.set()
        self._thread.join()
        if self.trouble:
            raise self.trouble[0]

    async def _run(self) -> None:
        tasks = [asyncio.create_task(self._guarded(self._stream, page)) for page in self.streams]
        tasks += [asyncio.create_task(self._guarded(self._poll, page)) for page in self.polls]
        while not self._closing.is_set():
            await asyncio.sleep(0.1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _guarded(self, follow: Any, page: MapPage) -> None:
        try:
            await follow(page)
        except Exception as problem:
            self.trouble.append(problem)

    async def _stream(self, page: MapPage) -> None:
        while True:
            reader, writer = await asyncio.open_connection(*self._where, limit=LONGEST_LINE)
            try:
                # By HTTP/1.0, so that the answer is not cut into pieces with lengths between them.
                writer.write(
                    self._asked("1.0", page, f"Accept: text/event-stream\r\nAuthorization: Bearer {self._token}")
                )
                status = await _head(reader)
                if status[0] == 200:
                    await self._follow(page, reader)
                else:
                    page.sent_away += 1
                    await asyncio.sleep(1)
            finally:
                writer.close()
            page.came_again += 1

    async def _follow(self, page: MapPage, reader: asyncio.StreamReader) -> None:
        opened = page.came_again > 0
        while line := await reader.readline():
            if line.startswith(b"data:"):
                page.take(orjson.loads(line[5:]))
            if not opened and line.startswith((b":", b"data:")):
                opened = True
                self._open.release()

    async def _poll(self, page: MapPage) -> None:
        reader, writer = await asyncio.open_connection(*self._where, limit=LONGEST_LINE)
        self._open.release()
        while True:
            writer.write(self._asked("1.1", page, "Accept: application/json", f"&wait={WAIT_S}"))
            status, length = await _head(reader)
            body = await reader.readexactly(length)
            if status == 200:
                page.take(orjson.loads(body))
            else:
                page.sent_away += 1
                await asyncio.sleep(1)

    def _asked(self, version: str, page: MapPage, headers: str, more: str = "") -> bytes:
        path = f"{self._path}/changes?since={page.version}{more}"
        return f"GET {path} HTTP/{version}\r\nHost: bench\r\n{headers}\r\n\r\n".encode()


async def _head(reader: asyncio.StreamReader) -> tuple[int, int]:
    """Status, and length of the body."""
    status = int((await reader.readline()).split()[1])
    length = 0
    while (line := await reader.readline()).strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return status, length
