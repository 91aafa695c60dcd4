"""Hands the running server's bell to routes that let gates wait."""

from __future__ import annotations

from typing import cast

from flask import Flask, current_app

from sync_server.revisions.bell import Bell

EXTENSION = "gatehouse.bell"


def hang(app: Flask, bell: Bell) -> None:
    """Let this app's routes find the bell."""
    app.extensions[EXTENSION] = bell


def bell() -> Bell:
    """The bell of the server that is answering this request."""
    return cast(Bell, current_app.extensions[EXTENSION])
