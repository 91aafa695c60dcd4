"""The simulated scanner of the demo: Enter holds the next demo ticket in front of the gate, a pasted code that one."""

from __future__ import annotations

import itertools
import os
import select
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from scripts.house import words
from scripts.house.place import Place
from scripts.processes.child import Child

LOOK_S = 1.0
CHUNK = 65_536


def hold_tickets(place: Place, codes: Sequence[str], programs: Sequence[Child]) -> None:
    """Until Ctrl-C, the end of input on a terminal, or the end of a program (ProgramFailedError)."""
    pipe = place.gate_home / "scanner"
    if sys.stdin.isatty():
        words.console.print("\nEnter scans the next demo ticket, a pasted code that one. Ctrl-C stops everything.")
        lines = typed(sys.stdin.fileno(), programs)
    else:
        words.console.print(f"\nWrite codes to {pipe} to scan them. Ctrl-C stops everything.", markup=False)
        lines = typed(None, programs)
    for code in wanted(lines, codes):
        scan(pipe, code)


def wanted(lines: Iterable[str], codes: Sequence[str]) -> Iterator[str]:
    """A code for each line: what was typed, or the next demo ticket; after the last one the first comes again."""
    next_ticket = itertools.cycle(codes)
    for line in lines:
        yield line.strip() or next(next_ticket)


def typed(terminal: int | None, programs: Sequence[Child]) -> Iterator[str]:
    """Lines as they are typed, looking every second whether the programs still run."""
    while True:
        for program in programs:
            program.require_running()
        if not select.select([] if terminal is None else [terminal], [], [], LOOK_S)[0] or terminal is None:
            continue
        chunk = os.read(terminal, CHUNK)
        if not chunk:
            return
        yield from chunk.decode(errors="replace").splitlines()


def scan(pipe: Path, code: str) -> None:
    """Write one code to the gate's scanner; nobody waits for a gate that does not listen."""
    try:
        end = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as trouble:
        words.went_wrong(f"The gate's scanner is not there ({trouble.strerror}).")
        return
    with os.fdopen(end, "w") as writing:
        writing.write(code + "\n")
