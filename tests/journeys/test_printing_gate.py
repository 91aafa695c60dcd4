"""A gate with a label printer, as a running program: one badge for each guest, also when it is killed."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate_app.installation.home import Home
from hardware.devices import decode_image
from shared.badges import ready_made
from shared.wire.snapshot import TicketTypeRow
from tests.contracts.hardware.test_printers import as_png
from tests.gate_builders import EVENT, a_code, give_rows
from tests.journeys.test_gate_killed import a_gate_of_tonight
from tests.journeys.test_gate_running import TIMEOUT_S, presentations, wait_for_line
from tests.services.paper_printer import Cable, PaperPrinter


@pytest.fixture
def paper() -> PaperPrinter:
    return PaperPrinter()


@pytest.fixture
def home(tmp_path: Path, paper: PaperPrinter) -> Iterator[Path]:
    gate = a_gate_of_tonight(tmp_path / "home", 5)
    rows = list(gate.context.roster.snapshots[EVENT].file.rows())
    tickets = list(gate.context.roster.snapshots[EVENT].every_ticket())
    others = [row for row in rows if not isinstance(row, TicketTypeRow) and row not in tickets]
    badge = TicketTypeRow(1, "Regular", badge=ready_made.text_of("badge"))
    give_rows(gate, [*others, badge, *tickets], revision=2)
    gate.context.close()
    cable = Cable(paper)
    Home(gate.folder).settings.write_text(f'[printer]\nkind = "zpl"\nat = "{cable.port()}"\n')
    yield gate.folder
    cable.close()


def started(home: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "gate_app", "run", "--reader", "fake", "--screen", "0", "--home", str(home)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_for_line(process, "The gate's screen")
    return process


def show(home: Path, number: int) -> None:
    with (home / "scanner").open("w") as scanner:
        scanner.write(f"{a_code(number)}\n")


def wait_for(paper: PaperPrinter, count: int) -> None:
    pause = threading.Event()
    for _ in range(300):
        if len(paper.printed) >= count:
            return
        pause.wait(0.1)
    pytest.fail(f"{len(paper.printed)} of {count} badges came out")


def test_a_badge_comes_out_once_even_if_the_gate_is_killed(home: Path, paper: PaperPrinter, tmp_path: Path) -> None:
    gate = started(home)
    show(home, 1)
    wait_for(paper, 1)
    (tmp_path / "badge.png").write_bytes(as_png(paper.printed[0]))
    assert [found.text for found in decode_image(tmp_path / "badge.png").found] == [a_code(1)]
    paper.paper = False
    show(home, 2)
    assert presentations(home, 2) == ["admitted", "admitted"], "without paper guests come in all the same"
    gate.send_signal(signal.SIGKILL)
    gate.wait(TIMEOUT_S)
    paper.paper = True
    gate = started(home)
    wait_for(paper, 2)
    show(home, 1)
    show(home, 3)
    wait_for(paper, 3)
    gate.send_signal(signal.SIGTERM)
    assert gate.wait(TIMEOUT_S) == 0
    assert len(paper.printed) == 3
