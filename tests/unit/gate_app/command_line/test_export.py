"""The journal and the roster as files for other programs."""

from __future__ import annotations

import csv
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gate_app.command_line.export import Content, write
from gate_app.installation.home import Home
from shared.errors import Conflict, GatehouseError, StorageError
from tests.gate_builders import GateAtHome, a_code, a_gate, a_ticket_row, the_house

GUEST = "=HYPERLINK(1)"


@pytest.fixture
def gate(tmp_path: Path) -> GateAtHome:
    """A gate with three tickets, one of them of a guest with a malicious name, that has admitted, refused and read."""
    rows = [*the_house(tickets=2), a_ticket_row(3, name=GUEST, flags=3)]
    gate = a_gate(tmp_path / "home", rows)
    gate.scan(a_code(1))
    gate.hands.pass_ms(60_000)
    gate.scan(a_code(1))
    gate.scan("no ticket")
    return gate


def exported(gate: GateAtHome, content: Content, name: str) -> Path:
    file = gate.folder.parent / name
    write(Home(gate.folder), content, file)
    return file


def test_the_journal_as_json_lines_is_what_the_journal_command_prints(gate: GateAtHome) -> None:
    file = exported(gate, Content.JOURNAL, "journal.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["reason"] for line in lines if line["reason"]] == ["admitted", "already_used", "unreadable"]
    assert [line["seq"] for line in lines] == [entry.seq for entry in gate.entries()]


def test_a_sqlite_file_answers_questions_about_the_evening(gate: GateAtHome) -> None:
    with closing(sqlite3.connect(exported(gate, Content.JOURNAL, "journal.db"))) as connection:
        refused = "SELECT reason, event, json_array_length(notices) FROM journal WHERE reason <> '' AND NOT admitted"
        assert connection.execute(refused).fetchall() == [("already_used", 7, 1), ("unreadable", 7, 0)]
    with closing(sqlite3.connect(exported(gate, Content.ROSTER, "roster.sqlite"))) as connection:
        assert connection.execute("SELECT number, zone, seat FROM roster ORDER BY number LIMIT 1").fetchall() == [
            ("NIGHT-000001", "Stalls", "1")
        ]


def test_a_spreadsheet_does_not_run_a_guests_name(gate: GateAtHome) -> None:
    with exported(gate, Content.ROSTER, "roster.csv").open(newline="") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == ["", "", f"'{GUEST}"]
    assert json.loads(rows[2]["flags"]) == ["wheelchair", "companion"]


def test_a_file_that_is_there_is_never_touched(gate: GateAtHome) -> None:
    with pytest.raises(Conflict, match="already exists"):
        write(Home(gate.folder), Content.JOURNAL, gate.folder / "gate.db")
    assert len(gate.presentations()) == 3


def test_only_the_owner_may_read_an_export(gate: GateAtHome) -> None:
    assert exported(gate, Content.ROSTER, "roster.csv").stat().st_mode & 0o777 == 0o600


def test_nothing_is_left_of_an_export_that_fails(gate: GateAtHome) -> None:
    for snapshot in (gate.folder / "snapshots").glob("event-*.rows"):
        gate.context.close()
        snapshot.write_bytes(snapshot.read_bytes()[:4096] + bytes(40_000))
    file = gate.folder.parent / "roster.db"
    with pytest.raises((GatehouseError, sqlite3.Error)):
        write(Home(gate.folder), Content.ROSTER, file)
    assert not file.exists()
    with pytest.raises(StorageError, match="cannot be written"):
        write(Home(gate.folder), Content.ROSTER, gate.folder / "nowhere" / "roster.csv")
