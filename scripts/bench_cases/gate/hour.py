"""An hour at one simulated lane, thirty guests a minute: who is missed, who is judged twice, what memory grows.

Guests who see no lamp for seven seconds take their code away and hold it up anew, twice at most; who is not read then
is missed. Time passes as fast as frames can be drawn and read; the gate's clock goes on as at a door. Other guests come
each time, from a seed that is printed; GATEHOUSE_BENCH_SEED repeats a run.
"""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gate_app.app import this_host
from gate_app.gate_context import HostEnvironment
from gate_app.simulation.rehearsal import Plan, Rehearsal, resident_mb
from hardware.simulated.camera import AtOnce
from scripts.benchmarking.result import Figure, Result, at_most

A_MINUTE = 30
# What libraries and caches take at first is no leak.
SETTLED_SHARE = 0.2
GROWTH_MB = 16
# Guests who have to hold up their code more than once keep the others waiting.
AGAIN_SHARE = 0.002


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure one lane for an hour, or for two minutes."""
    people = 60 if quick else 60 * A_MINUTE
    seed = int(os.environ.get("GATEHOUSE_BENCH_SEED", "") or secrets.randbelow(1_000_000))
    print(f"the guests are of seed {seed}; GATEHOUSE_BENCH_SEED={seed} lets them come again", file=sys.stderr)
    settled: list[float] = []

    def note(line: dict[str, Any]) -> None:
        if line["guest"] == round(people * SETTLED_SHARE):
            settled.append(resident_mb())
        if line["tries"] > 1:
            how = "was not read" if line["read_after_frames"] is None else f"was read at try {line['tries']}"
            print(f"guest {line['guest']} {how}: {line['shows']}, {line['brings']}", file=sys.stderr)

    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder:
        sums = _evening(Plan(people=people, a_minute=A_MINUTE, seed=seed), Path(folder), note)
    for case in ("missed", "judged_twice", "wrong"):
        yield Result("hour", case.replace("_", " "), Figure(value=sums[case], unit=f"of {people}"), at_most(0))
    again = Figure(value=sums["held_up_again"], unit=f"of {people}")
    yield Result("hour", "held up again", again, at_most(AGAIN_SHARE * people))
    growth = resident_mb() - settled[0]
    yield Result("hour", "growth of memory", Figure(value=growth, unit="MB"), at_most(GROWTH_MB))
    yield Result("hour", "processor of a frame", Figure(value=sums["millis_a_frame"], unit="ms"), at_most(33))


def _evening(plan: Plan, folder: Path, note: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    tempo, here = AtOnce(), this_host()
    began = here.wall()
    host = HostEnvironment(
        lambda: began + tempo.now_ns() // 1_000_000, tempo.now_ns, here.entropy, b"rehearse", here.software
    )
    evening = Rehearsal(plan, folder, tempo, host, report=note)
    try:
        return evening.run()
    finally:
        evening.close()
