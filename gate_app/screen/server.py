"""Serves the gate's web pages until it is closed."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Collection, Iterable
from typing import Any

from flask import Flask
from waitress.server import create_server  # type: ignore[import-untyped]  # waitress ships no types
from waitress.wasyncore import close_all, loop  # type: ignore[import-untyped]  # likewise

from gate_app.screen.feed import Feed
from gate_app.screen.live_pictures import MOST_AT_ONCE, NO_PICTURES, LivePictures
from gate_app.screen.pages import create_screen
from gate_app.supervision.desk import Desk
from shared.errors import SettingsError

Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
MOST_SCREENS = 12
# Every open screen holds a thread, and so does every live picture that is waited for; the remaining ones serve the
# page and its files.
THREADS = MOST_SCREENS + MOST_AT_ONCE + 4
CLOSING_S = 3.0
LARGEST_BODY = 2_000_000
"""A photograph of a ticket, made smaller by the telephone that took it. It is kept in memory, never on the disk."""
# How soon a closed server is noticed by its own thread.
LOOK_S = 0.2


class LocalServer:
    """Serves an application of this machine. `open()` binds the port, so a port in use is reported at the start."""

    def __init__(self, host: str, port: int, threads: int) -> None:
        self._host = host
        self._wanted_port = port
        self._threads = threads
        self._stop = threading.Event()
        self._sockets: dict[int, object] = {}
        self._thread: threading.Thread | None = None

    def serve(self, app: Wsgi) -> None:
        """Starts serving in its own thread. Raises SettingsError if the port cannot be bound."""
        try:
            self._server = create_server(
                app,
                map=self._sockets,
                host=self._host,
                port=self._wanted_port,
                threads=self._threads,
                ident="",
                max_request_body_size=LARGEST_BODY,
                inbuf_overflow=LARGEST_BODY,
                clear_untrusted_proxy_headers=True,
            )
        except (OSError, ValueError) as why:
            close_all(self._sockets, ignore_all=True)
            raise SettingsError(no_port(self._host, self._wanted_port, why)) from why
        self._thread = threading.Thread(target=self._serve, name="screen", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """The actual port, also if port 0 was requested."""
        several = getattr(self._server, "effective_listen", None)
        return int(several[0][1] if several else self._server.effective_port)

    @property
    def address(self) -> str:
        """The URL for a browser on this machine."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.port}/"

    def close(self) -> None:
        """Frees the port."""
        self._stop.set()
        if self._thread is None:
            return
        self._thread.join(2 * CLOSING_S)
        self._thread = None

    def _serve(self) -> None:
        """Waits on the sockets and closes them in one thread: closing them elsewhere would break the wait."""
        while not self._stop.is_set():
            loop(timeout=LOOK_S, map=self._sockets, count=1)
        self._server.task_dispatcher.shutdown(timeout=CLOSING_S)
        # What was answered last is still on its way to the sockets.
        loop(timeout=LOOK_S, map=self._sockets, count=2)
        close_all(self._sockets, ignore_all=True)


class ScreenServer(LocalServer):
    """The server of the gate's screens."""

    def __init__(
        self,
        feed: Feed,
        host: str = "127.0.0.1",
        port: int = 8100,
        *,
        names: Collection[str] = (),
        pictures: LivePictures = NO_PICTURES,
        language: str = "",
        desk: Desk | None = None,
    ) -> None:
        super().__init__(host, port, THREADS)
        self._feed = feed
        self._pictures = pictures
        self._names = names
        self._language = language
        self._desk = desk
        self.app: Flask | None = None

    def open(self) -> ScreenServer:
        """Starts serving in its own thread. Raises SettingsError if the port cannot be bound."""
        self.app = create_screen(
            self._feed,
            self._stop,
            names=self._names,
            most_screens=MOST_SCREENS,
            pictures=self._pictures,
            language=self._language,
            desk=self._desk,
        )
        self.serve(self.app)
        return self

    def close(self) -> None:
        """Ends the streams and frees the port."""
        self._stop.set()
        self._feed.wake()
        super().close()


def no_port(host: str, port: int, why: Exception, remedy: str = "with --screen") -> str:
    if isinstance(why, OSError) and why.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is in use by another program. Stop it, or choose another port {remedy}."
    cause = getattr(why, "strerror", None) or "no such address"
    return f"The gate's screen cannot open on {host}:{port} ({cause}). Choose another address or port."
