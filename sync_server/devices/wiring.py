"""Lets devices follow what happens to events."""

from __future__ import annotations

from sync_server.devices import following
from sync_server.events.hanging import ASKED
from sync_server.events.moving import MOVED
from sync_server.plumbing.parts import Parts


def wire(parts: Parts) -> None:
    """Act inside the transactions of lower floors."""
    parts.database.when(ASKED, following.count)
    parts.database.when(MOVED, following.follow)
