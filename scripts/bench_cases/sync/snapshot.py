"""The first sync of a gate: 200,000 tickets over loopback, in seconds, bytes and memory.

The gate is a process of its own, measured from its start to its end. The yardsticks: a bare loop that writes as many
rows into SQLite with two indexes; the 13 bytes of a ticket that are random and cannot be compressed (its id and its
confirmation code); the gate's program when it only prints its status.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scripts.benchmarking.gates.measured_gate import MeasuredGate
from scripts.benchmarking.meters.peak_memory import peak_mb
from scripts.benchmarking.meters.report_peak import PEAK
from scripts.benchmarking.result import Figure, Result, at_most
from scripts.benchmarking.rows.sold_tickets import put_tickets
from scripts.benchmarking.servers.measured_server import MeasuredServer, analyse, measured_server
from scripts.benchmarking.statistics import percentile
from scripts.benchmarking.yardsticks.bare_rows import write_bare_rows
from scripts.local_stack.layout import ROOT
from scripts.processes.child import Child

TICKETS = 200_000
NAMED = 50_000
SETTLE_S = 1.0
RANDOM_BYTES = 13


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure; seconds are the median of several first syncs, run alternately with the bare loop."""
    with measured_server("sqlite") as server:
        yield from _cases(server, "", rounds=2 if quick else 5)
        yield _at_work(server)
    with measured_server("sqlite") as server:
        yield _named(server)
    if not quick:
        with measured_server("postgresql") as server:
            yield from _cases(server, "postgresql ", rounds=3)


def _cases(server: MeasuredServer, prefix: str, *, rounds: int) -> Iterator[Result]:
    put_tickets(server, TICKETS)
    analyse(server)
    server.serve()
    syncs, bare = _alternately(server, rounds)
    seconds, bare_seconds = percentile([one.seconds for one in syncs], 0.5), percentile(bare, 0.5)
    figure = Figure(value=seconds, unit="s", yardstick=bare_seconds, ratio=seconds / bare_seconds)
    yield Result("snapshot", f"{prefix}{TICKETS} tickets seconds", figure, at_most(4))
    if not prefix:
        yield Result("snapshot", f"{TICKETS} tickets bytes per ticket", _bytes(server, TICKETS), at_most(35))
        peak, idle = max(one.peak_mb for one in syncs), _run_gate(server.layout.folder / "round-0", "status").peak_mb
        figure = Figure(value=peak, unit="MB", yardstick=idle, ratio=peak / idle)
        yield Result("snapshot", f"{TICKETS} tickets gate resident MB", figure, at_most(200))


def _alternately(server: MeasuredServer, rounds: int) -> tuple[list[Sync], list[float]]:
    syncs: list[Sync] = []
    bare: list[float] = []
    for number in range(rounds):
        home = server.layout.folder / f"round-{number}"
        _run_gate(home, "enrol", server.layout.address, server.new_device(f"Round {number}"))
        syncs.append(_run_gate(home, "sync", "--once"))
        bare.append(write_bare_rows(server.layout.folder / f"bare-{number}.db", TICKETS))
    return syncs, bare


@dataclass(frozen=True, slots=True)
class Sync:
    """Time and memory of one run of the gate's program."""

    seconds: float
    peak_mb: float


def _run_gate(home: Path, *arguments: str) -> Sync:
    command = [sys.executable, "-m", "scripts.benchmarking.meters.report_peak", *arguments, "--home", str(home)]
    started = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=dict(os.environ))
    seconds = time.perf_counter() - started
    if done.returncode:
        raise RuntimeError(f"gatehouse-gate {arguments[0]} failed: {done.stderr.strip()}")
    peak = next(line for line in done.stderr.splitlines() if line.startswith(PEAK))
    return Sync(seconds, float(peak.removeprefix(PEAK)))


def _bytes(server: MeasuredServer, tickets: int) -> Figure:
    """Bytes received per ticket, including headers, event and keys."""
    code = server.new_device("Counting")
    gate = MeasuredGate.enrolled(server.layout.folder / "counting", server.layout.address, code)
    try:
        gate.transport.received = 0
        if gate.sync()["pulled"] < tickets:
            raise RuntimeError("the gate did not get all tickets")
        per_ticket = gate.transport.received / tickets
    finally:
        gate.close()
    return Figure(value=per_ticket, unit="bytes", yardstick=RANDOM_BYTES, ratio=per_ticket / RANDOM_BYTES)


def _named(server: MeasuredServer) -> Result:
    put_tickets(server, NAMED, named=True)
    server.serve()
    return Result("snapshot", f"{NAMED} tickets with names bytes per ticket", _bytes(server, NAMED), at_most(50))


def _at_work(server: MeasuredServer) -> Result:
    """The memory of a running gate with a reader that downloads its first snapshot; a screen would add to it."""
    home, code = server.layout.folder / "working", server.new_device("Working")
    _run_gate(home, "enrol", server.layout.address, code)
    command = [sys.executable, "-m", "gate_app", "run", "--headless", "--reader", "fake", "--home", str(home)]
    gate = Child("The gate", command, server.layout.folder / "gate.log", folder=ROOT)
    gate.start()
    try:
        gate.wait_until(lambda: any(home.glob("snapshots/*.rows")), seconds=120)
        threading.Event().wait(SETTLE_S)
        peak = peak_mb(gate.pid)
    finally:
        gate.stop()
    return Result("snapshot", f"{TICKETS} tickets gate at work MB", Figure(value=peak, unit="MB"), at_most(200))
