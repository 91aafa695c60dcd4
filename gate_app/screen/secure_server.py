"""An encrypted way to the gate's pages, for what browsers do only over one: it ends TLS and passes the bytes on."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flask import Flask

from gate_app.screen.hosts import own_names
from gate_app.screen.server import THREADS, LocalServer, ScreenServer, Wsgi, no_port
from gate_app.supervision.phones import SecureWay
from shared.errors import SettingsError

MOST_CONNECTIONS = 64
HANDSHAKE_S = 5.0
IDLE_S = 30.0
"""After so long without a byte in either direction a connection is closed; streams say something twice a second."""
CHUNK = 65_536
CLOSING_S = 3.0
OTHER_PORT = "as screen_secure_port in gate.toml"


class SecureServer:
    """Serves an application over TLS until it is closed; requests are limited by the `LocalServer` behind it."""

    def __init__(self, host: str, port: int, tls: ssl.SSLContext, app: Flask) -> None:
        self._host = host
        self._wanted_port = port
        self._tls = tls
        self._app = app
        self._behind = LocalServer("127.0.0.1", 0, THREADS)
        self._loop = asyncio.new_event_loop()
        self._thread: threading.Thread | None = None

    def open(self) -> SecureServer:
        """Starts serving in its own thread. Raises SettingsError if the port cannot be bound."""
        try:
            family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
            self._listener = socket.create_server((self._host, self._wanted_port), family=family)
        except (OSError, OverflowError) as why:
            self._loop.close()
            raise SettingsError(no_port(self._host, self._wanted_port, why, OTHER_PORT)) from why
        self._listener.setblocking(False)
        self._behind.serve(from_elsewhere(self._app))
        self._thread = threading.Thread(target=self._run, name="secure screen", daemon=True)
        self._thread.start()
        return self

    @property
    def port(self) -> int:
        """The actual port, also if port 0 was requested."""
        return int(self._listener.getsockname()[1])

    def close(self) -> None:
        """Ends all connections and frees the port."""
        if self._thread is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(CLOSING_S)
            self._thread = None
            self._behind.close()

    def _run(self) -> None:
        serving = self._loop.create_task(self._serve())
        try:
            self._loop.run_forever()
        finally:
            serving.cancel()
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
                with suppress(asyncio.CancelledError, OSError):
                    self._loop.run_until_complete(task)
            self._listener.close()
            self._loop.close()

    async def _serve(self) -> None:
        places, tasks = asyncio.Semaphore(MOST_CONNECTIONS), set[asyncio.Task[None]]()
        while True:
            # Whoever comes when all places are taken waits before the door, not in this program.
            await places.acquire()
            try:
                connection, _ = await self._loop.sock_accept(self._listener)
            except OSError:
                places.release()
                await asyncio.sleep(1)
                continue
            task = self._loop.create_task(self._connected(connection))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            task.add_done_callback(lambda _task: places.release())

    async def _connected(self, connection: socket.socket) -> None:
        with suppress(OSError, EOFError, asyncio.CancelledError):
            near_reader = asyncio.StreamReader(limit=CHUNK, loop=self._loop)
            protocol = asyncio.StreamReaderProtocol(near_reader, loop=self._loop)
            transport, _ = await self._loop.connect_accepted_socket(
                lambda: protocol, connection, ssl=self._tls, ssl_handshake_timeout=HANDSHAKE_S, ssl_shutdown_timeout=1
            )
            near = asyncio.StreamWriter(transport, protocol, near_reader, self._loop)
            try:
                far_reader, far = await asyncio.open_connection("127.0.0.1", self._behind.port, limit=CHUNK)
                try:
                    await self._relay(near_reader, near, far_reader, far)
                finally:
                    far.close()
            finally:
                near.transport.abort() if near.is_closing() else near.close()

    async def _relay(
        self,
        near_reader: asyncio.StreamReader,
        near: asyncio.StreamWriter,
        far_reader: asyncio.StreamReader,
        far: asyncio.StreamWriter,
    ) -> None:
        """Passes bytes on in both directions until one side has ended or both have been silent for too long."""
        async with asyncio.timeout(IDLE_S) as silence:

            async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                while content := await reader.read(CHUNK):
                    silence.reschedule(self._loop.time() + IDLE_S)
                    writer.write(content)
                    await writer.drain()

            ways = {asyncio.ensure_future(pass_on(near_reader, far)), asyncio.ensure_future(pass_on(far_reader, near))}
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)


class SecureScreen:
    """Opens the encrypted way when the first telephone needs it: a gate without any has no further port open."""

    def __init__(
        self, screen: ScreenServer, host: str, port: int, *, kept: Path, names: Collection[str], now: Callable[[], int]
    ) -> None:
        """`kept` is the file of the certificate; `now` is the gate's time in ms."""
        self._screen = screen
        self._host = host
        self._port = port
        self._kept = kept
        self._names = names
        self._now = now
        self._opening = threading.Lock()
        self._server: SecureServer | None = None
        self.way: SecureWay | None = None
        """Where it is; None as long as it was not opened."""

    def open(self) -> SecureWay:
        """Opens it, if it is not yet. Raises SettingsError or StorageError."""
        with self._opening:
            if self.way is None:
                self.way = self._opened()
            return self.way

    def close(self) -> None:
        """Ends it."""
        with self._opening:
            server, self._server, self.way = self._server, None, None
            if server is not None:
                server.close()

    def _opened(self) -> SecureWay:
        # Imported when needed: a gate that starts has no time for it.
        from gate_app.screen.certificate import ensure_certificate, server_context

        now = datetime.fromtimestamp(self._now() / 1000, UTC)
        fingerprint = ensure_certificate(self._kept, own_names(self._names), now)
        if self._screen.app is None:
            raise SettingsError("The gate's screen is closed.")
        tls = server_context(self._kept)
        self._server = SecureServer(self._host, self._port, tls, self._screen.app).open()
        return SecureWay(self._server.port, fingerprint)


def from_elsewhere(app: Wsgi) -> Wsgi:
    """The application for requests that were passed on: they look as if they came from this machine, and did not."""

    def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        return app(environ | {"wsgi.url_scheme": "https", "REMOTE_ADDR": "", "REMOTE_HOST": ""}, start)

    return answer
