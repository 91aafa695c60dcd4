"""Starts the streams listener of a server that a test runs, and lets requests that wait be redirected to it."""

from __future__ import annotations

from flask import Flask

from sync_server.plumbing.parts import Parts
from sync_server.waiting.listener import StreamsListener, open_socket


def start_listener(parts: Parts, app: Flask) -> StreamsListener:
    """A running listener on a free local port; it ends with the server."""
    listener = StreamsListener(parts, app, open_socket("127.0.0.1", 0))
    listener.thread.start()
    return listener


def redirect_streams(parts: Parts, port: int) -> None:
    """Redirect requests that wait to this port, as `serve` does."""
    config = parts.config.model_copy(update={"streams_address": f"127.0.0.1:{port}"})
    object.__setattr__(parts, "config", config)
