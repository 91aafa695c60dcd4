"""The demo's simulated scanner: Enter scans the next demo ticket, a pasted code is scanned itself."""

from __future__ import annotations

import itertools
import os
import select
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from scripts.local_stack import progress
from scripts.local_stack.layout import StackLayout
from scripts.processes.child import Child

POLL_S = 1.0
CHUNK = 65_536


def scan_typed_codes(layout: StackLayout, codes: Sequence[str], programs: Sequence[Child]) -> None:
    """Scan until Ctrl-C, descriptor of input, or the exit of a program (ProgramFailedError)."""
    pipe = layout.gate_home / "scanner"
    if sys.stdin.isatty():
        progress.console.print("\nPress Enter to scan the next demo ticket, or paste a code. Ctrl-C stops everything.")
        lines = typed_lines(sys.stdin.fileno(), programs)
    else:
        progress.console.print(f"\nWrite codes to {pipe} to scan them. Ctrl-C stops everything.", markup=False)
        lines = typed_lines(None, programs)
    for code in codes_to_scan(lines, codes):
        scan(pipe, code)


def codes_to_scan(lines: Iterable[str], codes: Sequence[str]) -> Iterator[str]:
    """A code for each line: what was typed, or for an empty line the next demo ticket, round and round."""
    next_ticket = itertools.cycle(codes)
    for line in lines:
        yield line.strip() or next(next_ticket)


def typed_lines(terminal: int | None, programs: Sequence[Child]) -> Iterator[str]:
    """Lines as they are typed; checks every second that the programs still run."""
    while True:
        for program in programs:
            program.require_running()
        if not select.select([] if terminal is None else [terminal], [], [], POLL_S)[0] or terminal is None:
            continue
        chunk = os.read(terminal, CHUNK)
        if not chunk:
            return
        yield from chunk.decode(errors="replace").splitlines()


def scan(pipe: Path, code: str) -> None:
    """Write one code to the gate's scanner pipe, without waiting for a gate that does not read it."""
    try:
        descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        progress.show_failure(f"The gate's scanner is not available ({error.strerror}).")
        return
    with os.fdopen(descriptor, "w") as file:
        file.write(code + "\n")
