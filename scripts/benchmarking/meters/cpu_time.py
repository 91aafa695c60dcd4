"""Measures the CPU time of programs and their children, which other load on the machine hardly changes."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")

_USED_BY_PROCESS = 2
"""The kind of clock that clock_getcpuclockid(3) asks for; Python has no such function for other processes."""

CpuSeconds = dict[str, float]
"""CPU seconds by program name."""


def cpu_seconds(programs: Mapping[str, int]) -> CpuSeconds:
    """CPU seconds so far of each program, given by process id, including its children."""
    parents, used = {}, {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # the process has just ended
        id = int(file.parent.name)
        parents[id] = int(fields[1])
        used[id] = _own_seconds(id, fields) + sum(map(int, fields[13:15])) / TICKS_A_SECOND
    return {name: sum(used[id] for id in used if _descends_from(id, root, parents)) for name, root in programs.items()}


def _own_seconds(id: int, fields: Sequence[str]) -> float:
    """What a process has used with all its threads, by its own clock: `stat` has hundredths of a second only.

    Of children that have ended `stat` is all there is.
    """
    try:
        return time.clock_gettime((~id << 3) | _USED_BY_PROCESS)
    except OSError:
        return sum(map(int, fields[11:13])) / TICKS_A_SECOND


def descendants(root: int) -> list[int]:
    """A process and all that it has started, directly or not."""
    parents = {
        int(file.parent.name): int(file.read_text().rpartition(")")[2].split()[1])
        for file in Path("/proc").glob("[0-9]*/stat")
    }
    return [id for id in parents if _descends_from(id, root, parents)]


def _descends_from(id: int, root: int, parents: Mapping[int, int]) -> bool:
    while id not in {root, 0}:
        id = parents.get(id, 0)
    return id == root


def cpu_seconds_since(before: CpuSeconds, programs: Mapping[str, int]) -> CpuSeconds:
    """CPU seconds used since `before`."""
    return {name: seconds - before[name] for name, seconds in cpu_seconds(programs).items()}


def describe_cpu(used: CpuSeconds, operations: int) -> str:
    """The microseconds per operation, as text, for so many operations."""
    micros_by_name = {name: seconds / operations * 1e6 for name, seconds in used.items()}
    return ", ".join(
        f"{name} {micros:.0f}" for name, micros in (*micros_by_name.items(), ("together", sum(micros_by_name.values())))
    )
