"""kill -9 of gate and server while they sync: every admission arrives exactly once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from scripts.benchmarking.rows.sold_tickets import issue_tickets
from scripts.benchmarking.servers.measured_server import MeasuredServer, measured_server
from scripts.local_stack.layout import ROOT
from scripts.local_stack.programs import is_server_ready, run_command
from shared.journal.scans import decode
from sync_server.scans import queries
from tests.journeys.scanning_process import ScanningProcess

KILLS = max(4, int(os.environ.get("GATEHOUSE_TEST_KILLS", "20")) // 4)
"""Each kill takes more than a second, because programs restart and sync."""
GUESTS = 25
MOST_S = 0.9


@pytest.fixture
def server() -> Iterator[MeasuredServer]:
    with measured_server("sqlite") as filled:
        yield filled


def gate_program(home: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "gate_app", *arguments, "--home", str(home)]


def sync_until_killed(home: Path, seconds: float) -> None:
    command = gate_program(home, "sync", "--once")
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as syncing:
        threading.Event().wait(seconds)
        syncing.send_signal(signal.SIGKILL)


def admit(home: Path, codes: Sequence[str]) -> int:
    """Scan offline in a process that is killed too; return the number of admissions."""
    scanning = ScanningProcess(home)
    reasons = [scanning.show(code)["reason"] for code in codes]
    scanning.kill()
    return reasons.count("admitted")


def test_every_admission_arrives_once_however_often_gate_and_server_are_killed(server: MeasuredServer) -> None:
    codes = issue_tickets(server, KILLS * GUESTS)
    running = server.serve()
    home = server.layout.gate_home
    run_command(server.layout, gate_program(home, "enrol", server.layout.address, server.new_device("Killed")))
    run_command(server.layout, gate_program(home, "sync", "--once"))
    chance = random.Random(20261118)
    admitted = 0
    for number in range(KILLS):
        admitted += admit(home, codes[number * GUESTS : (number + 1) * GUESTS])
        if number % 2:
            sync_until_killed(home, chance.uniform(0.1, MOST_S))
            continue
        kill_timer = threading.Timer(chance.uniform(0.3, MOST_S), running.kill)
        kill_timer.start()
        sync_until_killed(home, MOST_S)
        kill_timer.join()
        running.start()
        running.wait_until(lambda: is_server_ready(server.layout))
    (result,) = run_command(server.layout, gate_program(home, "sync", "--once"))
    (chain,) = run_command(server.layout, gate_program(home, "journal", "--verify"))
    assert admitted == len(codes)
    assert (result["unsent"], result["quarantined"], chain["ok"]) == (0, 0, True)
    assert server_totals(server) == {"admitted": admitted, "twice": 0, "conflicts": 0, "entries": chain["entries"]}


def server_totals(server: MeasuredServer) -> dict[str, Any]:
    """The server's totals of admissions, duplicates, conflicts and entries."""
    with server.runtime() as runtime, runtime.parts.database.reading() as session:
        counts = {row.reason: row.n for row in queries.counts(session, server.event_key)}
        rows = session.connection().exec_driver_sql("SELECT body FROM scan_entries").scalars().all()
        conflicts = queries.open_conflicts(session, server.event_key)
    tickets = Counter(entry.ticket_id for entry in map(decode, rows) if entry.admitted)
    twice = sum(1 for times in tickets.values() if times > 1)
    return {"admitted": counts["admitted"], "twice": twice, "conflicts": len(conflicts), "entries": len(rows)}
