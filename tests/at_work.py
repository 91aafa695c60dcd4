"""The real worker of a server at work, which sleeps until somebody wakes it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sync_server.plumbing.jobs import HeavyJob, Job
from sync_server.plumbing.parts import Parts
from sync_server.workers import Worker

PATIENCE_S = 60.0


@contextmanager
def at_work(parts: Parts) -> Iterator[Worker]:
    """Run the worker until the end of the block, which begins once each lane has looked at all of its jobs.

    Where the clock of these parts stands still nothing becomes due: then the worker does what it is woken for.
    """
    looked = [threading.Event()]
    jobs = [*parts.jobs]
    parts.jobs.append(Job("tests.looked", 1_000, lambda _session, _context: looked[0].set()))
    for lane in sorted({job.lane for job in jobs if isinstance(job, HeavyJob)} | {"mail"}):
        looked.append(done := threading.Event())
        parts.jobs.append(HeavyJob(f"tests.looked {lane}", 1_000, lambda *_, done=done: done.set(), lane=lane))
    stop, worker = threading.Event(), Worker(parts)
    parts.jobs[:] = jobs
    thread = threading.Thread(target=worker.run, args=(stop,))
    thread.start()
    try:
        assert all(each.wait(PATIENCE_S) for each in looked), "the worker does not look at its jobs"
        yield worker
    finally:
        stop.set()
        thread.join(PATIENCE_S)
    assert not thread.is_alive()
