"""The trial by which owners prove their memory card: it finds every card that loses what it said was stored."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from gate_app.doctor.plug_trial import RECORD, PlugTrial
from tests.gate_commands import Type
from tests.journeys.unwritable_disks import gate_command


def written(folder: Path, records: int) -> PlugTrial:
    trial = PlugTrial(folder)
    stored = trial.write()
    for _ in range(records):
        last = next(stored)
    assert last == records
    stored.close()
    return trial


@pytest.mark.parametrize("cut_after", [1, 17, 40])
def test_nothing_that_was_seen_is_lost_when_the_process_is_killed(type_: Type, home: Path, cut_after: int) -> None:
    command = gate_command("doctor", "--pull-the-plug", home=home)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as writing:
        assert writing.stdout is not None
        for _ in range(cut_after):
            seen = json.loads(writing.stdout.readline())["stored"]
        writing.send_signal(signal.SIGKILL)
        writing.wait()

    said = type_("doctor", "--pull-the-plug", "--seen", str(seen))

    assert (said.status, said.line["ok"], said.line["kept"] >= seen == cut_after) == (0, True, True)
    assert not list(home.glob("plug-trial*")), "the next trial begins anew"


def test_a_card_that_lost_the_end_is_found(tmp_path: Path) -> None:
    trial = written(tmp_path, 40)
    with (tmp_path / "plug-trial.records").open("r+b") as records:
        records.truncate(30 * RECORD)
    assert trial.kept().last == 30
    assert not trial.kept().holds(40)


def test_a_card_that_lost_a_record_in_the_middle_is_found_whatever_was_seen(tmp_path: Path) -> None:
    trial = written(tmp_path, 40)
    with (tmp_path / "plug-trial.records").open("r+b") as records:
        records.seek(9 * RECORD)
        records.write(bytes(RECORD))
    assert (trial.kept().last, trial.kept().holds(0)) == (9, False)


def test_a_card_that_keeps_names_and_loses_content_is_found(tmp_path: Path) -> None:
    trial = written(tmp_path, 40)
    with (tmp_path / "plug-trial.records").open("r+b") as records:
        records.truncate(20 * RECORD)
    assert trial.kept().renamed == 33
    assert not trial.kept().holds(0), "a later file is there, an earlier one is not"


def test_a_record_that_was_just_being_written_may_be_torn(tmp_path: Path) -> None:
    trial = written(tmp_path, 40)
    with (tmp_path / "plug-trial.records").open("ab") as records:
        records.write(b"0000000000000041 and no")
    assert trial.kept().holds(40)


def test_a_number_without_a_trial_is_a_mistake(type_: Type) -> None:
    said = type_("doctor", "--seen", "3")
    assert (said.status, said.err.count("\n")) == (2, 1)
