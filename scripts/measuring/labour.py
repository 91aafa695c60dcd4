"""How much of the processor a program and all that it started have taken: busy neighbours change that little."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")

Labour = dict[str, float]
"""Seconds, by the name of the program."""


def labour(programs: Mapping[str, int]) -> Labour:
    """So far, of each of these programs by its process id, with those of its children that have ended."""
    parents, ticks = {}, {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = file.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        parents[int(file.parent.name)] = int(words[1])
        ticks[int(file.parent.name)] = sum(map(int, words[11:15]))
    return {
        name: sum(ticks[id] for id in ticks if _is_of(id, root, parents)) / TICKS_A_SECOND
        for name, root in programs.items()
    }


def _is_of(id: int, root: int, parents: Mapping[int, int]) -> bool:
    while id not in {root, 0}:
        id = parents.get(id, 0)
    return id == root


def since(before: Labour, programs: Mapping[str, int]) -> Labour:
    """What has been added."""
    return {name: seconds - before[name] for name, seconds in labour(programs).items()}


def in_words(spent: Labour, times: int) -> str:
    """In words, for one of so many times."""
    each = {name: seconds / times * 1e6 for name, seconds in spent.items()}
    return ", ".join(f"{name} {micros:.0f}" for name, micros in (*each.items(), ("together", sum(each.values()))))
