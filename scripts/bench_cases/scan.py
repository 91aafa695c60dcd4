"""From the text of a code to the verdict on the disk, at a gate that holds 200,000 tickets.

The yardstick is the bare loop of scripts/measuring/bare_scan.py, taken in turns with the gate.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from gate_app.gate import Presented, Told
from gate_app.lodge import Lodge
from scripts.measuring.bare_scan import BareScan
from scripts.measuring.evening import Evening, settle
from scripts.measuring.result import Figure, Result, at_most, both
from scripts.measuring.statistics import Spread, milliseconds, percentile
from shared.admission import Mode, Verdict

TICKETS = 200_000
GOAL = both(at_most(1.5, "ratio"), at_most(10, "p99"))
# The mark is written when the guest has seen the lamp: it must not hold up the next one, and has no part in the ratio.
MARK_GOAL = at_most(10, "p99")


def measure(*, quick: bool) -> Iterator[Result]:
    """Every scan is another guest's first."""
    scans = 2_000 if quick else 10_000
    evening = Evening.of(TICKETS)
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder:
        bare = BareScan(Path(folder) / "bare.db", TICKETS)
        lodge = settle(evening, Path(folder) / "home")
        try:
            committed, whole, yardstick = _taken(evening, lodge, bare, scans)
        finally:
            lodge.close()
            bare.close()
    least = percentile(yardstick, 0.5)
    yield Result("scan", f"{TICKETS} tickets", Figure.of_spread(Spread.of(committed), "ms", least), GOAL)
    yield Result(
        "scan", f"{TICKETS} tickets with lamp mark", Figure.of_spread(Spread.of(whole), "ms", least), MARK_GOAL
    )


def _taken(evening: Evening, lodge: Lodge, bare: BareScan, scans: int) -> tuple[list[float], list[float], list[float]]:
    """Milliseconds to the committed verdict, to the mark that the lamp was lit, and of the bare loop."""
    committed: list[float] = []
    whole: list[float] = []
    yardstick: list[float] = []
    for ticket_id in random.Random(1).sample(evening.ids, scans):
        code = evening.code(ticket_id)
        verdict, mark = _scan(lodge, code)
        committed.append(verdict)
        whole.append(mark)
        lodge.database.rest()
        yardstick.append(milliseconds(bare))
    return committed, whole, yardstick


class _Stopwatch:
    """A lamp that notes when it was asked to tell."""

    at = 0

    def give(self, told: Told, verdict: Verdict, mode: Mode) -> None:
        self.at = time.perf_counter_ns()
        if not verdict.admitted:
            raise RuntimeError(f"a guest with a good ticket was told {verdict.reason}: {verdict.message}")

    def again(self, told: Told) -> None:
        raise RuntimeError(f"a new guest was taken for the one before: {told['message']}")


def _scan(lodge: Lodge, code: str) -> tuple[float, float]:
    lamp = _Stopwatch()
    begun = time.perf_counter_ns()
    lodge.gate.handle(Presented(code, "bench"), lamp)
    ended = time.perf_counter_ns()
    return (lamp.at - begun) / 1e6, (ended - begun) / 1e6
