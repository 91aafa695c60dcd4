"""The worker: delivers facts and does the periodic jobs, until it is told to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from sync_server.accounts import signing_in
from sync_server.audit import sealer
from sync_server.devices import identity
from sync_server.events import status
from sync_server.outbox import relay
from sync_server.outbox.post_office import PostOffice
from sync_server.outbox.wiring import listen_for_commits
from sync_server.plumbing import once
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.principals import SYSTEM, Deed
from sync_server.plumbing.redis_or_not import Loop
from sync_server.plumbing.work import MORE, Job
from sync_server.tickets import signing

T = TypeVar("T")

LONGEST_REST_S = 0.25


class Worker:
    """Runs what is due; several workers on one database share the work without noticing."""

    def __init__(self, parts: Parts) -> None:
        """Everything that rooms registered when they were wired, and the server's own jobs."""
        self._parts = parts
        self._post_office = PostOffice(parts)
        self._jobs: Sequence[Job] = [*own_jobs(parts), *parts.jobs]
        self._due = {job.name: 0 for job in self._jobs}

    def run(self, stop: threading.Event) -> None:
        """Work until the stop; a job that fails is told in the log and tried again."""
        loops: list[Loop] = [*self._post_office.loops(), partial(listen_for_commits, self._parts)]
        threads = [threading.Thread(target=loop, args=(stop,), name="post", daemon=True) for loop in loops]
        for thread in threads:
            thread.start()
        while not stop.wait(LONGEST_REST_S):
            self._run_jobs()
        for thread in threads:
            thread.join()

    def run_once(self) -> int:
        """Do what is due now; how many facts there were."""
        self._run_jobs()
        return self._guarded("outbox", self._post_office.run_once) or 0

    def _run_jobs(self) -> None:
        for job in self._jobs:
            now = self._parts.clock()
            if self._due[job.name] <= now:
                self._due[job.name] = now + job.every_ms
                if self._guarded(job.name, partial(self._run, job)) is MORE:
                    self._due[job.name] = now

    def _run(self, job: Job) -> object:
        with self._parts.database.writing() as session:
            return job.run(session, Deed(SYSTEM, self._parts.clock(), self._parts.entropy))

    def _guarded(self, name: str, work: Callable[[], T]) -> T | None:
        try:
            return work()
        except Exception as problem:  # one failing job must not keep the others from running
            LOG.error("job_failed", job=name, exc_info=problem)
            return None


def own_jobs(parts: Parts) -> list[Job]:
    """The jobs of the rooms below."""
    return [
        Job("events.walk_planned", 1_000, status.walk_planned),
        Job("tickets.retire_keys", 60_000, signing.retire_everywhere),
        Job("accounts.forget_sessions", 600_000, lambda session, deed: signing_in.forget_ended(session, deed.now)),
        Job("plumbing.forget_answers", 600_000, lambda session, deed: once.forget_old(session, deed.now)),
        sealer.job(key=partial(identity.private_key, sealer=parts.sealer)),
        *relay.jobs(),
    ]
