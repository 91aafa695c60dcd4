"""Simulated seat map pages, on streams and long polls, that note when each seat's change arrives."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import orjson

from scripts.processes.streams_address import streams_netloc

LONGEST_LINE = 8_000_000
WAIT_S = 20


@dataclass
class MapPage:
    """What one page shows, and when each seat first changed on it."""

    version: str
    seats: bytearray
    first: int
    changed_at: dict[int, float] = field(default_factory=dict)
    responses: int = 0
    rejected: int = 0
    reconnects: int = 0

    def apply(self, update: dict[str, Any]) -> None:
        """Apply an update as a page does; an update that tells the page to reload is an error here."""
        now = time.perf_counter()
        if update["reset"]:
            raise RuntimeError(f"a page was told to reload: {update['reset']}")
        self.responses += 1
        self.version = update["version"]
        for seat, state in update["seats"]:
            self.seats[seat - self.first] = state
            self.changed_at.setdefault(seat, now)


class MapPages:
    """Many pages on one thread, open until they are closed."""

    def __init__(self, address: str, path: str, token: str, streams: list[MapPage], polls: list[MapPage]) -> None:
        """Streams are authenticated by `token` and show held seats as held; long polls are public."""
        since = f"{path}/changes?since={streams[0].version}"
        host, _, port = streams_netloc(urlsplit(address).netloc, since, {"Accept": "text/event-stream"}).partition(":")
        self._address, self._path, self._token = (host, int(port)), path, token
        self.streams, self.polls = streams, polls
        self.errors: list[BaseException] = []
        self._open = threading.Semaphore(0)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)

    def __iter__(self) -> Iterator[MapPage]:
        """All pages, streams first."""
        return iter([*self.streams, *self.polls])

    def open(self) -> None:
        """Open all pages and wait until each is ready for updates."""
        self._thread.start()
        for _ in self:
            if not self._open.acquire(timeout=60):
                raise RuntimeError(f"not every page could be opened: {self.errors}")

    def close(self) -> None:
        """Close all pages; raise the first error of any."""
        self._closing.set()
        self._thread.join()
        if self.errors:
            raise self.errors[0]

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
        except Exception as error:
            self.errors.append(error)

    async def _stream(self, page: MapPage) -> None:
        while True:
            reader, writer = await asyncio.open_connection(*self._address, limit=LONGEST_LINE)
            try:
                # HTTP/1.0, so that the response is not chunked.
                writer.write(
                    self._request("1.0", page, f"Accept: text/event-stream\r\nAuthorization: Bearer {self._token}")
                )
                status = await _head(reader)
                if status[0] == 200:
                    await self._follow(page, reader)
                else:
                    page.rejected += 1
                    await asyncio.sleep(1)
            finally:
                writer.close()
            page.reconnects += 1

    async def _follow(self, page: MapPage, reader: asyncio.StreamReader) -> None:
        opened = page.reconnects > 0
        while line := await reader.readline():
            if line.startswith(b"data:"):
                page.apply(orjson.loads(line[5:]))
            if not opened and line.startswith((b":", b"data:")):
                opened = True
                self._open.release()

    async def _poll(self, page: MapPage) -> None:
        reader, writer = await asyncio.open_connection(*self._address, limit=LONGEST_LINE)
        self._open.release()
        while True:
            writer.write(self._request("1.1", page, "Accept: application/json", f"&wait={WAIT_S}"))
            status, length = await _head(reader)
            body = await reader.readexactly(length)
            if status == 200:
                page.apply(orjson.loads(body))
            else:
                page.rejected += 1
                await asyncio.sleep(1)

    def _request(self, version: str, page: MapPage, headers: str, more: str = "") -> bytes:
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
