"""Serves an application of the tests on a local port, for browsers and other programs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from wsgiref.types import WSGIApplication

from werkzeug.serving import make_server

from tests.app_server import AppServer


@contextmanager
def listening(app: WSGIApplication, port: int = 0) -> Iterator[int]:
    """Serve an application during the block; the port is a free one unless given."""
    try:
        server = make_server("127.0.0.1", port, app, threaded=True)
    except SystemExit as ended:  # Werkzeug ends the program, and pytest does not survive that unharmed
        raise OSError(f"cannot listen on port {port}") from ended.__context__
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        yield server.port
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


@contextmanager
def served(app_server: AppServer) -> Iterator[str]:
    """Serve an app server and its streams during the block; the address."""
    app_server.redirect_streams()
    with listening(app_server.app) as port:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            app_server.parts.stop.set()
