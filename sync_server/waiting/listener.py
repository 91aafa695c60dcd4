"""Runs the streams listener: a loop of its own on a thread of the server process, or as a process of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import suppress
from wsgiref.types import WSGIApplication

import uvicorn

from sync_server.plumbing.parts import Parts
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.waiting.asgi import StreamsApp
from sync_server.waiting.http_protocol import DeadlineProtocol

BACKLOG = 4096
VANISHED_AFTER_S = 30
"""A reader whose machine has acknowledged nothing for so long is gone, although nobody closed its connection."""
STOP_WITHIN_S = 2
"""Readers that do not read their end are cut off after this."""


def open_socket(host: str, port: int, *, shared: bool = True) -> socket.socket:
    """A socket at this address; if `shared`, several processes may listen there and divide the connections."""
    family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    opened = socket.socket(family, kind, number)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # connections inherit it
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, VANISHED_AFTER_S * 1000)
    opened.bind(address)
    opened.listen(BACKLOG)
    opened.setblocking(False)
    return opened


class _Server(uvicorn.Server):
    """Sleeps until it shall end, where uvicorn's own wakes up ten times a second to look and to write the date."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ended = asyncio.Event()

    async def main_loop(self) -> None:
        """Wait for the end while the protocol serves connections."""
        await self.ended.wait()


class StreamsListener:
    """Serves streams and long polls on one socket until the server stops."""

    def __init__(self, parts: Parts, wsgi_app: WSGIApplication, opened: socket.socket) -> None:
        self._parts, self._socket = parts, opened
        self.port = int(opened.getsockname()[1])
        self.app = StreamsApp(parts, wsgi_app)
        self.thread = threading.Thread(target=self.run, name="streams")

    def run(self) -> None:
        """Serve until the server stops. Not for the main thread, where uvicorn would take the signals."""
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        config = uvicorn.Config(
            self.app,
            http=DeadlineProtocol,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            backlog=BACKLOG,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=STOP_WITHIN_S,
        )
        server = _Server(config)
        serving = asyncio.create_task(server.serve(sockets=[self._socket]))
        try:
            await self.app.hub.keep(_announced(self._parts.stop))
        except Exception as problem:
            LOG.error("streams_failed", exc_info=problem)
        server.ended.set()
        await serving
        self.app.hub.close()


def _announced(stop: threading.Event) -> asyncio.Event:
    """Set on this loop when the server stops; a thread waits for that, so that the loop need not look."""
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()

    def wait() -> None:
        stop.wait()
        with suppress(RuntimeError):  # the loop has ended before
            loop.call_soon_threadsafe(stopped.set)

    threading.Thread(target=wait, name="streams stop", daemon=True).start()
    return stopped
