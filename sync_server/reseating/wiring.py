"""Registers the job that finishes moves whose server is gone."""

from __future__ import annotations

from typing import Final

from sync_server.plumbing.jobs import Job
from sync_server.plumbing.parts import Parts
from sync_server.reseating import batches

RESUME_EVERY_MS: Final = 10_000


def wire(parts: Parts) -> None:
    """Register the job."""
    parts.jobs.append(Job("reseating.go_on", RESUME_EVERY_MS, batches.resume_abandoned, batches.any_abandoned))
