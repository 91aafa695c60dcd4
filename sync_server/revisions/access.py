"""Gives routes access to the head notifier of the running app."""

from __future__ import annotations

from typing import cast

from flask import Flask, current_app

from sync_server.revisions.head_notifier import HeadNotifier

EXTENSION = "gatehouse.head_notifier"


def install(app: Flask, head_notifier: HeadNotifier) -> None:
    """Register the head notifier with the app."""
    app.extensions[EXTENSION] = head_notifier


def head_notifier() -> HeadNotifier:
    """The head notifier of the current app."""
    return cast(HeadNotifier, current_app.extensions[EXTENSION])
