"""Registers the worker's jobs for what is put away."""

from __future__ import annotations

from functools import partial

from sync_server.archives import policy, queries, retention, service
from sync_server.archives.work import ArchiveWorker
from sync_server.plumbing.database import Database
from sync_server.plumbing.jobs import HeavyJob
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.principals import ActionContext

EVERY_MS = 10_000
POLICY_EVERY_MS = 3_600_000


def wire(parts: Parts) -> None:
    """Without a folder for archives nothing is put away by itself, and nobody can ask for it."""

    def carry_on(_database: Database, _context: ActionContext) -> object:
        return ArchiveWorker(parts).carry_on()

    if parts.config.archives is not None:
        parts.jobs.append(HeavyJob(service.CARRY_ON, EVERY_MS, carry_on, queries.next_at))
        parts.jobs.append(HeavyJob("archives.ask", POLICY_EVERY_MS, policy.ask_for_due))
    parts.jobs.append(
        HeavyJob("archives.retention", POLICY_EVERY_MS, partial(retention.run, parts.config, parts.sealer))
    )
