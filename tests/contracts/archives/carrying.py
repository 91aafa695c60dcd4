"""Carries an archive on in a process of its own, which may be killed."""

from __future__ import annotations

from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from sync_server.archives.work import ArchiveWorker
from sync_server.config import check
from sync_server.plumbing.event_key import EventKey
from sync_server.runtime import build_runtime

_PROCESSES = get_context("forkserver")
_PROCESSES.set_forkserver_preload([__name__])


def _carry_on(settings: dict[str, Any], event: EventKey, said: Connection) -> None:
    runtime = build_runtime(check(settings))
    said.send("begun")
    ArchiveWorker(runtime.parts, lambda state, done, _rows: said.send((state, done))).carry_on_with(event)
    said.send("done")


def carry_on(settings: dict[str, Any], event: EventKey, *, kill_after: int | None = None) -> bool:
    """Carry this archive on; kill the process after so many of its messages, the first of which says that it begins.

    Whether it came to its end.
    """
    hears, says = _PROCESSES.Pipe(duplex=False)
    process = _PROCESSES.Process(target=_carry_on, args=(settings, event, says))
    process.start()
    says.close()
    heard, last = 0, None
    while kill_after is None or heard < kill_after:
        try:
            last = hears.recv()
        except EOFError:
            break
        heard += 1
    if kill_after is not None:
        process.kill()
    process.join()
    return last == "done" and process.exitcode == 0
