"""From the text of a code to the verdict on disk, at a gate with 200,000 tickets.

The yardstick is the bare loop of scripts/benchmarking/yardsticks/bare_scan.py, run alternately with the gate.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from gate_app.gate_context import GateContext
from gate_app.scanning.gate import Presentation, ScanResult
from scripts.benchmarking.gates.loaded_event import LoadedEvent, install_gate
from scripts.benchmarking.result import Figure, Result, at_most, both
from scripts.benchmarking.statistics import Spread, milliseconds, percentile
from scripts.benchmarking.yardsticks.bare_scan import BareScan
from shared.admission import Mode, Verdict

TICKETS = 200_000
GOAL = both(at_most(1.5, "ratio"), at_most(10, "p99"))
# The lamp mark is written after the guest has seen the lamp, so it only must not hold up the next guest.
MARK_GOAL = at_most(10, "p99")


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure scans; each is the first one of another ticket."""
    scans = 2_000 if quick else 10_000
    event = LoadedEvent.of(TICKETS)
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder:
        bare = BareScan(Path(folder) / "bare.db", TICKETS)
        context = install_gate(event, Path(folder) / "home")
        try:
            committed, whole, yardstick = _taken(event, context, bare, scans)
        finally:
            context.close()
            bare.close()
    least = percentile(yardstick, 0.5)
    yield Result("scan", f"{TICKETS} tickets", Figure.of_spread(Spread.of(committed), "ms", least), GOAL)
    yield Result(
        "scan", f"{TICKETS} tickets with lamp mark", Figure.of_spread(Spread.of(whole), "ms", least), MARK_GOAL
    )


def _taken(
    event: LoadedEvent, context: GateContext, bare: BareScan, scans: int
) -> tuple[list[float], list[float], list[float]]:
    """Milliseconds to the committed verdict, to the lamp mark, and of the bare loop."""
    committed: list[float] = []
    whole: list[float] = []
    yardstick: list[float] = []
    for ticket_id in random.Random(1).sample(event.ids, scans):
        code = event.code(ticket_id)
        verdict, mark = _scan(context, code)
        committed.append(verdict)
        whole.append(mark)
        context.database.rest()
        yardstick.append(milliseconds(bare))
    return committed, whole, yardstick


class _Lamp:
    """A lamp that says when it is asked to show a verdict."""

    def __init__(self, at_lamp: Callable[[], object]) -> None:
        self._at_lamp = at_lamp

    def show(self, result: ScanResult, verdict: Verdict, mode: Mode) -> None:
        self._at_lamp()
        if not verdict.admitted:
            raise RuntimeError(f"a valid ticket was refused as {verdict.reason}: {verdict.message}")

    def repeat(self, result: ScanResult) -> None:
        raise RuntimeError(f"a new ticket was taken for a repeated scan: {result['message']}")


def scan(context: GateContext, code: str, at_lamp: Callable[[], object]) -> None:
    """Present a valid ticket; `at_lamp` is called once its verdict is on the disk."""
    context.gate.handle(Presentation(code, "bench"), _Lamp(at_lamp))


def _scan(context: GateContext, code: str) -> tuple[float, float]:
    shown: list[int] = []
    started = time.perf_counter_ns()
    scan(context, code, lambda: shown.append(time.perf_counter_ns()))
    finished = time.perf_counter_ns()
    return (shown[0] - started) / 1e6, (finished - started) / 1e6
