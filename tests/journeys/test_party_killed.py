"""A party of five: one scan and five turns, and a gate that is killed (kill -9) at each of them, without a network."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import urllib.request
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from tests.gate_builders import a_party_code, ticket_id_of
from tests.journeys.test_gate_killed import a_gate_of_tonight
from tests.journeys.test_gate_running import journal, wait_for_line

FIVE = (1, 2, 3, 4, 5)
LOOKS = 300
SETTINGS = 'barrier = "fake-turnstile"\nparty = "all"\nturn_ms = 60000\n'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    gate = a_gate_of_tonight(tmp_path / "home", 5)
    gate.context.close()
    (gate.folder / "gate.toml").write_text(SETTINGS)
    return gate.folder


@dataclass
class TurnstileProcess:
    """A gate that runs in its own process, with a simulated scanner and turnstile."""

    home: Path

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "gate_app", "run", "--reader", "fake", "--screen", "0"]
        self.process = subprocess.Popen([*command, "--home", str(self.home)], stderr=subprocess.PIPE, text=True)
        self.address = wait_for_line(self.process, "The gate's screen").split()[-1]
        return self

    def __exit__(self, *_how: object) -> None:
        self.kill()
        if self.process.stderr is not None:
            self.process.stderr.close()

    def kill(self) -> None:
        """Nothing of the process runs any more."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def scan(self, code: str) -> None:
        """Hold a code up."""
        self._write("scanner", code)

    def turn(self) -> None:
        """Somebody goes through the arms."""
        self._write("turnstile", "somebody")

    def until(self, done: Callable[[list[str]], bool]) -> list[str]:
        """Wait until the tickets of the party stand like this on the screen."""
        pause = threading.Event()
        for _ in range(LOOKS):
            standings = [one["standing"] for one in self._members()]
            if standings and done(standings):
                return standings
            pause.wait(0.05)
        pytest.fail(f"the tickets of the party stand like this: {standings}")

    def _write(self, pipe: str, line: str) -> None:
        with (self.home / pipe).open("w") as written:
            written.write(f"{line}\n")

    def _members(self) -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{self.address}view", timeout=10) as answer:  # noqa: S310 - our own screen
            view = json.load(answer)
        return list(view["party"]["members"]) if view["party"] else []


def somebody_is_let_through(standings: list[str]) -> bool:
    return "going" in standings


def test_a_party_of_five_with_the_gate_killed_at_each_turn(home: Path) -> None:
    turns = 0
    for number in FIVE:
        with TurnstileProcess(home) as gate:
            gate.scan(a_party_code(*FIVE))
            gate.until(somebody_is_let_through)
            if number > 1:
                # Whoever was let through when the gate died goes first, without a second entry.
                gate.turn()
                turns += 1
                gate.until(lambda now: now.count("in") == 1 and somebody_is_let_through(now))
            gate.kill()
        assert len(admissions(home)) == number
    with TurnstileProcess(home) as gate:
        gate.scan(a_party_code(*FIVE))
        gate.until(somebody_is_let_through)
        gate.turn()
        turns += 1
        gate.until(lambda now: sorted(now) == ["in", *["refused"] * 4])
    assert turns == len(FIVE)
    check(home)


def admissions(home: Path) -> list[dict[str, Any]]:
    return [line for line in journal(home) if line["kind"] == "presentation" and line["admitted"]]


def check(home: Path) -> None:
    came = admissions(home)
    assert Counter(line["ticket"] for line in came) == Counter({f"{ticket_id_of(n):016x}": 1 for n in FIVE})
    assert len({line["details"]["party"] for line in came}) == 1
    assert [line for line in journal(home) if line["kind"] == "annulment"] == []
    verify = [sys.executable, "-m", "gate_app", "journal", "--verify", "--home", str(home)]
    answer = json.loads(subprocess.run(verify, capture_output=True, text=True, check=True).stdout)
    assert (answer["ok"], answer["broken_at"]) == (True, None)
