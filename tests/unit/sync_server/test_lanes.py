"""Heavy jobs run beside the others, not before them, and what a job took is measured."""

from __future__ import annotations

import threading
from pathlib import Path

from sqlalchemy.orm import Session

from sync_server.plumbing.database import Database
from sync_server.plumbing.jobs import MORE, HeavyJob, Job
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.workers import Worker
from tests.app_server import AppServer


def test_a_long_heavy_job_keeps_no_other_waiting(tmp_path: Path) -> None:
    begun, let_go, light = threading.Event(), threading.Event(), threading.Event()

    def heavy(_database: Database, _context: ActionContext) -> None:
        begun.set()
        let_go.wait(60)

    def quick(_session: Session, _context: ActionContext) -> object:
        if begun.is_set():
            light.set()
        return MORE  # due again at once

    app_server = AppServer(f"sqlite:///{tmp_path}/gatehouse.db", tmp_path)
    parts = app_server.parts
    parts.jobs.extend([HeavyJob("test.heavy", 1, heavy), Job("test.light", 1, quick)])
    stop = threading.Event()
    worker = threading.Thread(target=Worker(parts).run, args=(stop,))
    worker.start()
    assert begun.wait(60) and light.wait(60) and not let_go.is_set()
    let_go.set()
    stop.set()
    worker.join()
    app_server.close()
    assert b'gatehouse_job_seconds_count{job="test.heavy"}' in parts.metrics.text()
