"""Holds a process to one core at a share of its speed, as a stand-in for a slower machine."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PERIOD_US = 10_000
CGROUPS = Path("/sys/fs/cgroup")


@contextmanager
def held_to(pid: int, share: float) -> Iterator[str]:
    """Holds the process to that share of the first core; says how."""
    core = {min(os.sched_getaffinity(0))}
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), core)
    group = _group_v2() or _group_v1()
    if group is None:
        with _stopped_and_continued(pid, share):
            yield f"one core, stopped and continued every {PERIOD_US // 1000} ms for {share:.0%} of the time"
        return
    try:
        _limit(group, share)
        (group / "cgroup.procs").write_text(str(pid))
        yield f"one core, cgroup quota of {share:.0%} in periods of {PERIOD_US // 1000} ms"
    finally:
        _leave(group, pid)


def _group_v2() -> Path | None:
    return _made(CGROUPS / f"gatehouse-bench-{os.getpid()}", "cpu.max")


def _group_v1() -> Path | None:
    return _made(CGROUPS / "cpu" / f"gatehouse-bench-{os.getpid()}", "cpu.cfs_quota_us")


def _made(group: Path, control: str) -> Path | None:
    try:
        group.mkdir()
    except OSError:
        return None
    if (group / control).exists():
        return group
    with suppress(OSError):
        group.rmdir()
    return None


def _limit(group: Path, share: float) -> None:
    quota = round(PERIOD_US * share)
    if (group / "cpu.max").exists():
        (group / "cpu.max").write_text(f"{quota} {PERIOD_US}")
        return
    (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
    (group / "cpu.cfs_quota_us").write_text(str(quota))


def _leave(group: Path, pid: int) -> None:
    """Moves the process back and removes the group."""
    for process in {str(pid), *(group / "cgroup.procs").read_text().split()}:
        with suppress(OSError):
            (group.parent / "cgroup.procs").write_text(process)
    with suppress(OSError):
        group.rmdir()


@contextmanager
def _stopped_and_continued(pid: int, share: float) -> Iterator[None]:
    over = threading.Event()

    def switch() -> None:
        with suppress(ProcessLookupError):
            while not over.wait(PERIOD_US * share / 1e6):
                os.kill(pid, signal.SIGSTOP)
                over.wait(PERIOD_US * (1 - share) / 1e6)
                os.kill(pid, signal.SIGCONT)

    thread = threading.Thread(target=switch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
