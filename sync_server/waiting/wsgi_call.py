"""Calls the WSGI application for a request of the streams listener: the same views decide who may read what."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from wsgiref.types import WSGIApplication

from sync_server.waiting.handing_over import ENVIRON, Answer, HandedOver


@dataclass(frozen=True, slots=True)
class Called:
    """The application's response, and what its view handed over to wait."""

    answer: Answer
    handed_over: HandedOver | None


def call(app: WSGIApplication, scope: Any, body: bytes) -> Called:
    """Run the view for an ASGI scope."""
    environ = _environ(scope, body)
    handed_over: list[HandedOver] = []
    environ[ENVIRON] = handed_over
    started: list[tuple[int, list[tuple[str, str]]]] = []

    def start_response(status: str, headers: list[tuple[str, str]], _problem: Any = None) -> Callable[[bytes], object]:
        started.append((int(status.split(" ", 1)[0]), headers))
        return lambda _: None

    content = _content(app(environ, start_response))
    status, headers = started[-1]
    return Called(Answer(status, headers, content), handed_over[-1] if handed_over else None)


def _content(chunks: Iterable[bytes]) -> bytes:
    try:
        return b"".join(chunks)
    finally:
        close = getattr(chunks, "close", None)
        if close is not None:
            close()


def _environ(scope: Any, body: bytes) -> dict[str, Any]:
    server, client = scope.get("server") or ("", 0), scope.get("client") or ("", 0)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": scope["path"].encode().decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": str(server[0]),
        "SERVER_PORT": str(server[1]),
        "REMOTE_ADDR": str(client[0]),
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").upper().replace("-", "_"), raw_value.decode("latin-1")
        # A name with an underscore would stand for another header with a dash, as of a proxy: nobody sends one rightly.
        if name == "CONTENT_LENGTH" or b"_" in raw_name:
            continue
        key = name if name == "CONTENT_TYPE" else f"HTTP_{name}"
        separator = "; " if name == "COOKIE" else ","
        environ[key] = f"{environ[key]}{separator}{value}" if key in environ else value
    return environ
