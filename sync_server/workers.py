"""The worker: delivers facts and runs periodic jobs until it is stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import uuid7
from sync_server.accounts import invitations
from sync_server.accounts.sign_in import challenges, password_links, signing_in, throttling
from sync_server.audit import sealer
from sync_server.devices import identity
from sync_server.events.lifecycle import planned_transitions, status
from sync_server.mail import service as mail
from sync_server.mail.sender import MailSender
from sync_server.outbox import cleaning
from sync_server.outbox.fact_worker import FactWorker
from sync_server.plumbing import waking
from sync_server.plumbing.api import idempotency
from sync_server.plumbing.backends import Loop
from sync_server.plumbing.jobs import MORE, HeavyJob, Job
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.plumbing.telemetry import tracing
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.tickets.keys import signing_keys
from sync_server.webhooks.sender import WebhookSender

T = TypeVar("T")

FINISH_WITHIN_S = 20.0
"""What takes longer to finish at the end is left: its transaction is rolled back, and the next worker does it again."""
LONGEST_PAUSE_S = 5.0
"""The clock may have been set."""
SHORTEST_PAUSE_S = 0.05
AFTER_FAILURE_MS = 5_000
"""Until the next questions where the database did not answer these."""


class Worker:
    """Runs what is due. Several workers may share one database."""

    def __init__(self, parts: Parts) -> None:
        jobs = [*built_in_jobs(parts), *parts.jobs]
        self._monotonic = parts.monotonic
        self._fact_worker = FactWorker(parts)
        self._webhooks = WebhookSender(parts)
        heavy = [job for job in jobs if isinstance(job, HeavyJob)]
        self._lanes = {"light jobs": Lane(parts, [job for job in jobs if isinstance(job, Job)])}
        for name in dict.fromkeys(job.lane for job in heavy):
            self._lanes[name] = Lane(parts, [job for job in heavy if job.lane == name])

    def run(self, stop: threading.Event, finish_within_s: float = FINISH_WITHIN_S) -> None:
        """Work until `stop` is set; a job that fails is logged, and runs again when it is next due."""
        loops: list[tuple[str, Loop]] = [(name, lane.run) for name, lane in self._lanes.items()]
        loops += [("outbox", loop) for loop in self._fact_worker.loops()]
        loops.append(("webhooks", self._webhooks.run))
        threads = [threading.Thread(target=loop, args=(stop,), name=name, daemon=True) for name, loop in loops]
        for thread in threads:
            thread.start()
        stop.wait()
        for wake in (self._fact_worker.wake, self._webhooks.wake, *(lane.wake for lane in self._lanes.values())):
            wake()
        until = self._monotonic() + int(finish_within_s * 1e9)
        for thread in threads:
            thread.join(max(0, until - self._monotonic()) / 1e9)
        if left := sorted({thread.name for thread in threads if thread.is_alive()}):
            LOG.warning("worker_left_work", lanes=left)

    def run_once(self) -> int:
        """Run the jobs and deliver the facts that are due now; the number of facts."""
        for lane in self._lanes.values():
            lane.run_due()
        delivered = guarded("outbox", self._fact_worker.run_once) or 0
        guarded("webhooks", self._webhooks.run_once)
        return delivered


class Lane:
    """Jobs that run one after another; those of another lane do not wait for them."""

    def __init__(self, parts: Parts, jobs: Sequence[Job | HeavyJob]) -> None:
        self._parts = parts
        self._jobs = jobs
        self._started_at = parts.clock()
        self._due = {job.name: 0 for job in jobs}
        self._rests_until = {job.name: 0 for job in jobs}  # who has just run and is woken waits so long
        self._woken: set[str] = set()
        self._lock, self._wake_up = threading.Lock(), threading.Event()
        waking.on_wake(parts.backends, self._due, self.wake)

    def wake(self, jobs: Iterable[str] = ()) -> None:
        """Let these jobs look now, and the loop whether it is to stop."""
        with self._lock:
            self._woken.update(jobs)
        self._wake_up.set()

    def run(self, stop: threading.Event) -> None:
        """Run them, whenever they are due or woken, until `stop` is set; whoever sets it wakes the lane."""
        while not stop.is_set():
            self._wake_up.clear()
            self.run_due()
            if not stop.is_set():
                self._wake_up.wait(self._pause_s())

    def _pause_s(self) -> float:
        until_next = (min(self._due.values(), default=0) - self._parts.clock()) / 1000
        return min(max(until_next, SHORTEST_PAUSE_S), LONGEST_PAUSE_S)

    def run_due(self) -> None:
        """Run those that are due now and have anything to do."""
        self._hear()
        now = self._parts.clock()
        jobs = [job for job in self._jobs if self._due[job.name] <= now]
        moments = guarded("questions", partial(self._ask, jobs, now))
        for job in jobs:
            at = now + AFTER_FAILURE_MS if moments is None else moments[job.name]
            if at is not None and at <= now:
                self._run_now(job, now)
            else:
                look = self._in_step(now, waking.look_ms(self._parts.backends, max(job.every_ms, job.look_every_ms)))
                self._due[job.name] = look if at is None else min(at, look)

    def _hear(self) -> None:
        with self._lock:
            woken, self._woken = self._woken, set()
        for name in woken:
            self._due[name] = min(self._due[name], self._rests_until[name])

    def _ask(self, jobs: Sequence[Job | HeavyJob], now: Millis) -> dict[str, Millis | None]:
        """When each has something to do: all ask on one connection, and none begins a transaction for nothing."""
        if not any(job.due for job in jobs):
            return dict.fromkeys((job.name for job in jobs), now)
        with self._parts.database.autocommit_reading() as session:
            return {job.name: now if job.due is None else job.due(session, now) for job in jobs}

    def _run_now(self, job: Job | HeavyJob, now: Millis) -> None:
        self._due[job.name] = self._rests_until[job.name] = self._in_step(now, job.every_ms)
        began = self._parts.monotonic()
        trace = tracing.new_trace(uuid7(now, self._parts.entropy))
        with trace, self._parts.spans.span(f"job {job.name}"):
            if guarded(job.name, partial(self._run, job)) is MORE:
                self._due[job.name] = self._rests_until[job.name] = self._parts.clock()
        self._parts.metrics.job_seconds.labels(job.name).observe((self._parts.monotonic() - began) / 1e9)

    def _in_step(self, now: Millis, every_ms: Millis) -> Millis:
        """The end of the current period, at which others look too: they ask on one connection."""
        return now + every_ms - (now - self._started_at) % every_ms

    def _run(self, job: Job | HeavyJob) -> object:
        context = ActionContext(SYSTEM, self._parts.clock(), self._parts.entropy)
        if isinstance(job, HeavyJob):
            return job.run(self._parts.database, context)
        with self._parts.database.writing() as session:
            return job.run(session, context)


def guarded(name: str, work: Callable[[], T]) -> T | None:
    """What the work returns; None where it fails, which is logged: one failing job must not stop the others."""
    try:
        return work()
    except Exception as error:
        LOG.error("job_failed", job=name, exc_info=error)
        return None


def built_in_jobs(parts: Parts) -> list[Job | HeavyJob]:
    """Jobs that belong to packages without a wiring module."""
    return [
        *([] if parts.config.mail_url is None else [MailSender(parts).job()]),
        Job(planned_transitions.APPLY, 5_000, status.apply_due_transitions, planned_transitions.next_at),
        Job("tickets.retire_keys", 60_000, signing_keys.retire_everywhere),
        Job("accounts.forget_sessions", 600_000, _forget_logins),
        Job(
            "plumbing.forget_answers",
            600_000,
            lambda session, context: idempotency.delete_old_keys(session, context.now),
        ),
        sealer.job(key=partial(identity.private_key, sealer=parts.sealer)),
        *cleaning.jobs(parts),
    ]


def _forget_logins(session: Session, context: ActionContext) -> None:
    """Sessions, links and mails that have ended."""
    for delete_ended in (
        signing_in.delete_expired,
        password_links.delete_ended,
        invitations.delete_ended,
        mail.delete_old,
        throttling.delete_old,
        challenges.delete_old,
    ):
        delete_ended(session, context.now)
