"""Registers the jobs that write and delete PDFs of many tickets."""

from __future__ import annotations

from sync_server.plumbing.jobs import HeavyJob, Job
from sync_server.plumbing.parts import Parts
from sync_server.ticket_files.batches import queue
from sync_server.ticket_files.batches.printing import Batches


def wire(parts: Parts) -> None:
    batches = Batches(parts.sealer, parts.stop)
    parts.jobs.append(HeavyJob(queue.WRITE, 2_000, batches.run, queue.next_at, lane="ticket files"))
    parts.jobs.append(Job("tickets.forget_pdfs", 3_600_000, queue.delete_old))
