"""Simulated evenings: nobody missed, nobody twice, and the answers that the tickets deserve."""

import gc
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import cv2
import pytest

from gate_app.gate_context import HostEnvironment
from gate_app.simulation.rehearsal import Plan, Rehearsal
from hardware.simulated.camera import AtOnce
from shared.journal.scans import EntryKind
from tests.gate_builders import EVENING, chance


def rehearsal(plan: Plan, folder: Path, lines: list[dict[str, Any]]) -> Rehearsal:
    tempo = AtOnce()
    host = HostEnvironment(
        lambda: EVENING + tempo.now_ns() // 1_000_000, tempo.now_ns, chance("simulation"), b"rehearse", "test"
    )
    return Rehearsal(plan, folder, tempo, host, report=lines.append)


def test_a_busy_lane_misses_nobody_and_admits_nobody_twice(tmp_path: Path) -> None:
    """The accelerated form of an hour with thirty guests a minute; `gatehouse-gate simulate` runs the whole."""
    lines: list[dict[str, Any]] = []
    evening = rehearsal(Plan(people=40, a_minute=30, seed=3, trouble=0.3), tmp_path, lines)
    sums = evening.run()
    gc.collect()
    recorded = [entry for entry in evening.context.journal.entries() if entry.kind == EntryKind.PRESENTATION]
    evening.close()
    assert [line["guest"] for line in lines] == list(range(1, 41))
    assert (sums["missed"], sums["judged_twice"], sums["wrong"]) == (0, 0, 0)
    assert len(recorded) == 40
    assert (sums["admitted"], sums["refused"]) == (
        sum(line["brings"] == "a ticket" for line in lines),
        sum(line["brings"] != "a ticket" for line in lines),
    )
    assert set(Counter(line["reason"] for line in lines)) == {
        "admitted",
        "already_used",
        "ticket_cancelled",
        "bad_signature",
    }


def test_the_same_seed_is_the_same_evening(tmp_path: Path) -> None:
    evenings: list[list[dict[str, Any]]] = []
    for name in ("first", "second"):
        lines: list[dict[str, Any]] = []
        evening = rehearsal(Plan(people=4, seed=9), tmp_path / name, lines)
        evening.run()
        evening.close()
        evenings.append(lines)
    assert evenings[0] == evenings[1]


def test_the_command_prints_a_line_for_each_guest_and_keeps_the_pictures(tmp_path: Path) -> None:
    pictures = tmp_path / "pictures"
    ran = subprocess.run(
        [sys.executable, "-m", "gate_app", "simulate", "--people", "2", "--seed", "5", "--frames", str(pictures)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    *guests, sums = map(json.loads, ran.stdout.splitlines())
    assert ([line["guest"] for line in guests], sums["guests"]) == ([1, 2], 2)
    saved = sorted(pictures.iterdir())
    assert saved[0].name == "guest-0001-frame-001.png"
    assert cv2.imread(str(saved[-1])).shape == (480, 640, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--people", "0"], "at least 1"),
        (["--size", "640"], "write it as 640x480"),
        (["--size", "9x9"], "choose one from"),
        (["--frames", "/proc/pictures"], "/proc/pictures"),
        (["--frames", "/usr"], "/usr is not empty"),
        (["--trouble", "many"], "a whole number"),
        (["stray"], "stray"),
    ],
)
def test_wrong_arguments_are_one_line_and_status_2(arguments: list[str], message: str) -> None:
    command = [sys.executable, "-m", "gate_app", "simulate", *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stdout, len(ran.stderr.splitlines())) == (2, "", 1)
    assert message in ran.stderr
