"""kill -9 at any moment: no admission that was shown is lost, and no ticket is admitted twice."""

from __future__ import annotations

import os
import random
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from shared.clock import wall_clock
from tests import gate_builders
from tests.gate_builders import GateAtHome, Hands, a_code, a_gate, an_event, the_house, ticket_id_of
from tests.journeys.scanning_process import ScanningProcess

KILLS = int(os.environ.get("GATEHOUSE_TEST_KILLS", "20"))
"""Set GATEHOUSE_TEST_KILLS=200 for the long run."""
GUESTS = 12
MOST_MS = 12


def a_gate_of_tonight(folder: Path, tickets: int) -> GateAtHome:
    """A gate whose event is live now, because the processes read the real clock."""
    now = wall_clock()
    shift = now - gate_builders.EVENING
    event = an_event(starts_at=now, ends_at=now + 6 * gate_builders.HOUR)
    days = tuple(type(day)(day.date, day.start + shift, day.until + shift) for day in event.days)
    rows = the_house(tickets, event=an_event(starts_at=now, ends_at=now + 6 * gate_builders.HOUR, days=days))
    return a_gate(folder, rows, hands=Hands(now))


def test_no_admission_is_lost_and_none_given_twice(tmp_path: Path) -> None:
    gate = a_gate_of_tonight(tmp_path, KILLS * GUESTS)
    gate.context.close()
    chance = random.Random(20261118)
    results: list[dict[str, object]] = []
    guests = iter(range(1, KILLS * GUESTS + 1))
    waiting: list[int] = []
    for _ in range(KILLS):
        results += scan_until_killed(tmp_path, chance, guests, waiting)
    last_process = ScanningProcess(tmp_path)
    results += [last_process.show(a_code(number)) for number in waiting]
    last_process.kill()
    check(gate, results)


def scan_until_killed(
    home: Path, chance: random.Random, guests: Iterator[int], waiting: list[int]
) -> list[dict[str, object]]:
    """Scan the guests still waiting, then new ones, until the process is killed during a scan."""
    process = ScanningProcess(home)
    results = [process.show(a_code(number)) for number in waiting]
    results += [process.show(a_code(next(guests))) for _ in range(chance.randrange(GUESTS - 3))]
    queue = [next(guests) for _ in range(3)]
    for number in queue:
        process.send(a_code(number))
    threading.Event().wait(chance.uniform(0, MOST_MS) / 1000)
    last = process.kill()
    answered = {line["ticket"]["id"] for line in last}
    waiting[:] = [number for number in queue if f"{ticket_id_of(number):016x}" not in answered]
    return results + last


def check(gate: GateAtHome, results: list[dict[str, object]]) -> None:
    context = gate.switch_on()
    assert context.journal.verify().ok
    admitted = {entry.seq: entry for entry in gate.presentations() if entry.admitted}
    lost = [line for line in results if line["verdict"] == "admit" and line["seq"] not in admitted]
    assert lost == []
    twice = {ticket: n for ticket, n in Counter(entry.ticket_id for entry in admitted.values()).items() if n > 1}
    assert twice == {}
    refused = [line for line in results if line["verdict"] == "deny"]
    assert refused == [], "every guest has a valid ticket and must be admitted"
