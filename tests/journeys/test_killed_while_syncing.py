"""kill -9 of gate and server while they exchange: every admission arrives, and each of them once."""

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

from scripts.house.place import ROOT
from scripts.house.programs import ask, is_ready
from scripts.measuring.measured_server import MeasuredServer, measured_server
from scripts.measuring.sold_out import issue_tickets
from shared.scans import decode
from sync_server.scans import queries
from tests.journeys.scanning_process import ScanningProcess

KILLS = max(4, int(os.environ.get("GATEHOUSE_TEST_KILLS", "20")) // 4)
"""Each takes more than a second: programs start, greet and sign."""
GUESTS = 25
MOST_S = 0.9


@pytest.fixture
def server() -> Iterator[MeasuredServer]:
    with measured_server("sqlite") as made:
        yield made


def gate_program(home: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "gate_app", *words, "--home", str(home)]


def sync_until_the_plug_is_pulled(home: Path, seconds: float) -> None:
    command = gate_program(home, "sync", "--once")
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as syncing:
        threading.Event().wait(seconds)
        syncing.send_signal(signal.SIGKILL)


def admit(home: Path, codes: Sequence[str]) -> int:
    """Offline, in a process that is killed too; how many were let in."""
    scanning = ScanningProcess(home)
    told = [scanning.show(code)["reason"] for code in codes]
    scanning.kill()
    return told.count("admitted")


def test_every_admission_arrives_once_however_often_gate_and_server_are_killed(server: MeasuredServer) -> None:
    codes = issue_tickets(server, KILLS * GUESTS)
    running = server.serve()
    home = server.place.gate_home
    ask(server.place, gate_program(home, "enrol", server.place.address, server.new_device("Killed")))
    ask(server.place, gate_program(home, "sync", "--once"))
    chance = random.Random(20261118)
    admitted = 0
    for number in range(KILLS):
        admitted += admit(home, codes[number * GUESTS : (number + 1) * GUESTS])
        if number % 2:
            sync_until_the_plug_is_pulled(home, chance.uniform(0.1, MOST_S))
            continue
        plug = threading.Timer(chance.uniform(0.3, MOST_S), running.kill)
        plug.start()
        sync_until_the_plug_is_pulled(home, MOST_S)
        plug.join()
        running.start()
        running.wait_until(lambda: is_ready(server.place))
    (told,) = ask(server.place, gate_program(home, "sync", "--once"))
    (chain,) = ask(server.place, gate_program(home, "journal", "--verify"))
    assert admitted == len(codes)
    assert (told["unsent"], told["quarantined"], chain["ok"]) == (0, 0, True)
    assert kept(server) == {"admitted": admitted, "twice": 0, "conflicts": 0, "entries": chain["entries"]}


def kept(server: MeasuredServer) -> dict[str, Any]:
    """What the server has of it all."""
    with server.ground() as ground, ground.parts.database.reading() as session:
        counts = {one.reason: one.n for one in queries.counts(session, server.event)}
        rows = session.connection().exec_driver_sql("SELECT body FROM scan_entries").scalars().all()
        conflicts = queries.open_conflicts(session, server.made["organisation"]["id"], server.event)
    tickets = Counter(entry.ticket_id for entry in map(decode, rows) if entry.admitted)
    twice = sum(1 for times in tickets.values() if times > 1)
    return {"admitted": counts["admitted"], "twice": twice, "conflicts": len(conflicts), "entries": len(rows)}
