"""Several lanes at one gate: two readers, and what opens their barrier for everybody."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from gate_app.running.emergencies import record_emergency
from gate_app.scanning.gate import Presentation
from gate_app.screen.feed import Feed
from tests.gate_builders import a_code, a_gate, give_rows
from tests.unit.gate_app.scanning.test_gate import a_standing_house

ROUNDS = int(os.environ.get("GATEHOUSE_TEST_RACES", "60"))


def test_one_ticket_at_two_readers_at_once_admits_one_guest_every_time(tmp_path: Path) -> None:
    gate = a_gate(tmp_path)
    give_rows(gate, a_standing_house(4 * ROUNDS, ROUNDS))
    together = threading.Barrier(2)
    reasons: dict[str, list[str]] = {"left": [], "right": []}

    def stand_at(reader: str) -> None:
        for number in range(1, ROUNDS + 1):
            together.wait(60)
            result = gate.context.gate.handle(Presentation(a_code(number), reader), gate.lamp)
            reasons[reader].append(result["reason"])

    lanes = [threading.Thread(target=stand_at, args=(reader,)) for reader in reasons]
    for lane in lanes:
        lane.start()
    for lane in lanes:
        lane.join()
    pairs = [sorted(pair) for pair in zip(reasons["left"], reasons["right"], strict=True)]
    assert pairs == [["admitted", "already_inside"]] * ROUNDS
    assert sum(entry.admitted for entry in gate.presentations()) == ROUNDS


def test_an_emergency_is_on_the_screen_and_in_the_journal_with_its_end(tmp_path: Path) -> None:
    gate, feed = a_gate(tmp_path), Feed(time.monotonic_ns)
    record_emergency(gate.context, feed, True)
    assert "barrier stands open for everybody" in " ".join(feed.view().condition.warnings)
    record_emergency(gate.context, feed, False)
    assert feed.view().condition.warnings == ()
    told = [entry.details["open"] for entry in gate.entries() if entry.kind == "emergency"]
    assert told == [True, False]
    assert gate.context.journal.verify().ok
