"""From the text of a code to the verdict on disk, at a gate with 200,000 tickets.

The yardstick is the bare loop of scripts/benchmarking/yardsticks/bare_scan.py, run alternately with the gate. Both wait
for the disk once, and that wait is the same for both: the slower the disk, the closer the ratio comes to 1. So the
processor's time and the wait are also given apart, and what one signature takes either of them. Nothing is
measured before both logs have been checkpointed, so that they do not grow any more.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gate_app.gate_context import GateContext
from gate_app.scanning.gate import Presentation, ScanResult
from gate_app.storage.database import CHECKPOINT_EVERY
from scripts.benchmarking.gates.loaded_event import LoadedEvent, install_gate
from scripts.benchmarking.result import ANY, Figure, Result, at_most, both
from scripts.benchmarking.statistics import Spread, interleaved, percentile
from scripts.benchmarking.yardsticks.bare_scan import SIGNED_BYTES, BareScan
from shared.admission import Mode, Verdict
from shared.keys import KeyState, TicketKey

TICKETS = 200_000
WARM, SIGNATURES = CHECKPOINT_EVERY + 100, 500
GOAL = both(at_most(1.5, "ratio"), at_most(10, "p99"))
# The lamp mark is written after the guest has seen the lamp, so it only must not hold up the next guest.
MARK_GOAL = at_most(10, "p99")


Moment = tuple[int, int]
"""Nanoseconds, by the clock and of this thread's processor time."""


@dataclass
class Taken:
    """Milliseconds of many scans, by the clock and of the processor."""

    clock: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def add(self, before: Moment, after: Moment) -> None:
        """One more, between two moments."""
        clock, processor = ((end - start) / 1e6 for start, end in zip(before, after, strict=True))
        self.clock.append(clock)
        self.processor.append(processor)

    @property
    def waited(self) -> list[float]:
        """How long each did not use the processor, where nobody else wants it: for the disk."""
        return [clock - processor for clock, processor in zip(self.clock, self.processor, strict=True)]


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure scans; each is the first one of another ticket."""
    event, name = LoadedEvent.of(TICKETS), f"{TICKETS} tickets"
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder:
        bare = BareScan(Path(folder) / "bare.db", TICKETS)
        context = install_gate(event, Path(folder) / "home")
        try:
            codes = list(map(event.code, random.Random(1).sample(event.ids, WARM + (2_000 if quick else 10_000))))
            _run(codes[:WARM], context, bare)
            lamp, whole, least = _run(codes[WARM:], context, bare)
            signatures = _signatures(bare)
        finally:
            context.close()
            bare.close()
    yield Result("scan", name, _compared(lamp.clock, least.clock), GOAL)
    yield Result("scan", f"{name} with lamp mark", _compared(whole.clock, least.clock), MARK_GOAL)
    yield Result("scan", f"{name} processor", _compared(lamp.processor, least.processor), ANY)
    yield Result("scan", f"{name} wait for the disk", _compared(lamp.waited, least.waited), ANY)
    yield Result("scan", "one signature", _compared(*signatures), ANY)


def _compared(ours: list[float], bare: list[float]) -> Figure:
    return Figure.of_spread(Spread.of(ours), "ms", percentile(bare, 0.5))


def _run(codes: Sequence[str], context: GateContext, bare: BareScan) -> tuple[Taken, Taken, Taken]:
    """Scans up to the lamp, the same up to the lamp mark, and the bare loop, in turn."""
    lamp, whole, least = Taken(), Taken(), Taken()
    for code in codes:
        before, shown, after = _one(context, code)
        lamp.add(before, shown)
        whole.add(before, after)
        context.database.rest()
        before = _now()
        bare()
        least.add(before, _now())
        bare.rest()
    return lamp, whole, least


def _one(context: GateContext, code: str) -> tuple[Moment, Moment, Moment]:
    """When a scan began, when its lamp was asked to light, and when all of it was done."""
    shown: list[Moment] = []
    before = _now()
    scan(context, code, lambda: shown.append(_now()))
    return before, shown[0], _now()


def _now() -> Moment:
    return time.perf_counter_ns(), time.thread_time_ns()


def _signatures(bare: BareScan) -> tuple[list[float], list[float]]:
    """One signature, verified as the gate does, and as the bare loop does."""
    key = Ed25519PrivateKey.generate()
    message = bytes(SIGNED_BYTES)
    ours = TicketKey.of(1, "", key.public_key().public_bytes_raw(), KeyState.ACTIVE)
    gates, bares = interleaved([partial(ours.verifies, key.sign(message), message), bare.verifies], SIGNATURES)
    return gates, bares


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
