"""Lets workers finish moves whose server is gone."""

from __future__ import annotations

from typing import Final

from sync_server.plumbing.parts import Parts
from sync_server.plumbing.work import Job
from sync_server.reseating import pieces

EVERY_MS: Final = 5_000


def wire(parts: Parts) -> None:
    """Look for them every few seconds."""
    parts.jobs.append(Job("reseating.go_on", EVERY_MS, pieces.go_on_alone))
