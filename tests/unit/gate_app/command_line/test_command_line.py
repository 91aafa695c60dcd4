"""The command line: JSON for scripts, messages for people, never a traceback."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from gate_app.installation.home import Home
from tests.gate_builders import PIN, a_code
from tests.gate_commands import Type


def test_a_scan_is_one_line_with_everything_promised(type_: Type) -> None:
    said = type_("scan", a_code(1))
    promised = {
        "verdict",
        "reason",
        "message",
        "notices",
        "ticket",
        "history",
        "seq",
        "decided_at",
        "committed",
        "micros",
    }
    assert said.status == 0
    assert promised <= said.line.keys()
    assert (said.line["verdict"], said.line["committed"], said.line["micros"] > 0) == ("admit", True, True)


def test_codes_are_read_a_line_until_the_input_ends(type_: Type) -> None:
    said = type_("scan", "-", stdin=f"{a_code(1)}\r\n\n{a_code(2).lower()}\nMAY1".encode())
    assert [line["reason"] for line in said.lines] == ["admitted", "unreadable", "admitted", "unreadable"]


@pytest.mark.parametrize(
    "junk", [b"\x00\xff\xfe\n", b"A" * 70_000 + b"\n", "\U0001f3ab\n".encode(), b"]Q1\n", b"\xed\xa0\x80\n"]
)
def test_any_bytes_at_all_get_one_answer(type_: Type, junk: bytes) -> None:
    assert type_("scan", "-", stdin=junk).line["reason"] == "unreadable"


def test_the_next_process_knows_what_the_last_one_admitted(type_: Type) -> None:
    type_("scan", a_code(1))
    assert type_("scan", a_code(1)).line["reason"] == "already_used"


def test_another_time_is_a_test_unless_the_settings_allow_it(type_: Type, home: Path) -> None:
    said = type_("scan", "--at", "2026-07-04T19:30:00+02:00", "--mode", "real", a_code(1))
    assert (said.line["mode"], "nothing counts" in said.err) == ("test", True)
    assert said.line["decided_at"] == "2026-07-04T17:30:00.000Z"
    Home(home).settings.write_text("allow_time_travel = true\n")
    assert type_("scan", "--at", "2026-07-04T19:30:00+02:00", a_code(1)).line["mode"] == "real"


@pytest.mark.parametrize("at", ["yesterday", "2026-07-04T19:30:00"])
def test_an_invalid_time_is_reported(type_: Type, at: str) -> None:
    said = type_("scan", "--at", at, a_code(1))
    assert (said.status, "2026-07-04T19:30:00+02:00" in said.err) == (2, True)


def test_a_pin_is_read_from_the_input_or_a_descriptor_and_never_an_argument(type_: Type) -> None:
    type_("scan", a_code(1))
    said = type_("scan", "--override-pin", PIN, "--override-reason", "lost child", a_code(1))
    assert (said.status, said.out, "Do not put a PIN on the command line" in said.err) == (2, "", True)
    by_input = type_(
        "scan", "--override-pin", "-", "--override-reason", "lost child", a_code(1), stdin=f"{PIN}\n".encode()
    )
    assert by_input.line["reason"] == "admitted_override"
    reading, writing = os.pipe()
    os.write(writing, f"1:{PIN}\n".encode())
    os.close(writing)
    by_descriptor = type_("scan", "--override-pin", str(reading), a_code(1))
    os.close(reading)
    assert by_descriptor.line["reason"] == "admitted_override"


def test_the_pin_is_the_first_line_and_the_codes_follow_on_the_same_input(type_: Type) -> None:
    type_("scan", a_code(1))
    said = type_("scan", "-", "--override-pin", "-", stdin=f"{PIN}\n{a_code(1)}\n{a_code(2)}\n".encode())
    assert [line["reason"] for line in said.lines] == ["admitted_override", "admitted"]


def test_a_wrong_pin_leaves_the_refusal_and_says_so(type_: Type) -> None:
    type_("scan", a_code(1))
    said = type_("scan", "--override-pin", "-", a_code(1), stdin=b"000000\n")
    assert (said.line["reason"], "PIN is wrong" in said.err) == ("already_used", True)


def test_a_reader_with_a_strange_name_spoils_no_entry(type_: Type) -> None:
    type_("scan", "--reader", "left\x00\udcff" + "x" * 500, a_code(1))
    assert type_("journal", "--verify").line["ok"]


def test_the_journal_is_listed_and_checked(type_: Type) -> None:
    type_("scan", a_code(1), a_code(2))
    kinds = [line["kind"] for line in type_("journal", "--json").lines]
    assert kinds[-2:] == ["presentation", "presentation"]
    assert type_("journal", "--verify").line == {"entries": len(kinds), "ok": True, "broken_at": None}
    assert "admitted" in type_("journal").out


def test_status_says_how_the_gate_is_doing(type_: Type) -> None:
    type_("scan", a_code(1))
    result = type_("status", "--json").line
    assert {"unsent", "last_sync", "snapshot_age_s", "revision", "clock", "peers", "devices", "disk"} <= result.keys()
    assert (result["online"], result["inside"], result["events"][0]["tickets"]) == (False, 1, 5)
    assert "Night Music" in type_("status").out


def test_whom_empty_house_let_go_is_not_inside_for_anybody_who_asks(type_: Type) -> None:
    type_("scan", a_code(1), a_code(2))
    type_("empty-house", stdin=f"{PIN}\n".encode())
    assert type_("status", "--json").line["inside"] == 0
    again = type_("scan", a_code(1)).line
    assert (again["reason"], again["message"]) == ("admitted_reentry", "Admitted again: entry 2.")
    assert type_("status", "--json").line["inside"] == 1


def test_an_unreachable_server_is_words_and_status_1(type_: Type) -> None:
    said = type_("sync", "--once")
    assert (said.status, "Scanning continues offline" in said.err) == (1, True)
    assert {"pulled", "pushed", "revision", "snapshot_age_s", "conflicts", "quarantined"} <= said.line.keys()


def test_while_another_process_uses_the_home_it_can_only_be_read(type_: Type, home: Path) -> None:
    type_("scan", a_code(1))
    with Home(home).held("run"):
        for arguments in (("scan", a_code(2)), ("sync", "--once")):
            said = type_(*arguments)
            assert (said.status, said.out, "gatehouse-gate run" in said.err) == (1, "", True)
        assert "gatehouse-gate run" in type_("status", "--json").line["held_by"]
        assert type_("journal", "--verify").line["ok"]


def test_settings_that_cannot_work_are_reported_before_anything_is_opened(type_: Type, home: Path) -> None:
    Home(home).settings.write_text("screen_port = 'high'\nnonsense = 1\n")
    said = type_("scan", a_code(1))
    assert (said.status, "screen_port" in said.err, "nonsense" in said.err) == (1, True, True)


def test_settings_that_cannot_work_do_not_prevent_reading(type_: Type, home: Path) -> None:
    Home(home).settings.write_text("screen_port = 'high'\n")
    status = type_("status", "--json")
    assert (status.status, any("screen_port" in arguments for arguments in status.line["warnings"])) == (0, True)
    assert type_("journal", "--verify").line["ok"]
    parts = {line["part"]: line for line in type_("doctor").lines}
    assert "screen_port" in parts["settings"]["words"]
    assert "MB free." in parts["disk"]["words"]


def test_settings_of_the_environment_that_cannot_work_are_reported_too(
    type_: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEHOUSE_GATE_SCREEN_PORT", "high")
    assert "screen_port" in type_("doctor").lines[0]["words"]
    assert type_("status", "--json").status == 0


@pytest.mark.parametrize(
    "arguments", [("status",), ("journal",), ("scan", "X"), ("sync", "--once"), ("run", "--headless")]
)
def test_an_invalid_home_is_status_1_for_every_command(type_: Type, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "file").write_text("no folder")
    said = type_(*arguments, at=tmp_path / "file")
    assert (said.status, str(tmp_path / "file") in said.err) == (1, True)


@pytest.mark.parametrize("host", ["localhost:9", "127.0.0.1:9"])
def test_a_server_near_by_is_tried_with_https_and_then_the_scheme_is_asked_for(type_: Type, host: str) -> None:
    said = type_("enrol", host, "MAYE-000G-40R4-0M30-E209-AV5W-B339-NWBA")
    assert (said.status, f"enter http://{host}" in said.err) == (1, True)


def test_damage_is_counted_and_reported_by_verify_and_the_doctor(type_: Type, home: Path) -> None:
    type_("scan", *(a_code(number) for number in (1, 2, 3)))
    entries = type_("journal", "--verify").line["entries"]
    with closing(sqlite3.connect(home / "gate.db")) as connection, connection:
        connection.execute("UPDATE journal SET body = x'c1' WHERE place = (SELECT max(place) - 2 FROM journal)")
    said = type_("journal", "--verify")
    assert (said.status, said.line["entries"], said.line["ok"]) == (1, entries, False)
    assert said.line["broken_at"].endswith(f"/{entries - 2}")
    doctor = next(line for line in type_("doctor").lines if line["part"] == "journal")
    assert (doctor["ok"], f"/{entries - 2}-{entries - 2}" in doctor["words"]) == (False, True)


def test_a_gate_without_its_database_warns_at_every_start(type_: Type, home: Path) -> None:
    (home / "gate.db").unlink()
    for _ in range(2):
        assert "may be admitted once more" in type_("scan", a_code(1)).err
    assert type_("status", "--json").line["memory_lost"]


def test_a_folder_without_a_gate_is_reported(type_: Type, tmp_path: Path) -> None:
    said = type_("status", "--json", at=tmp_path / "nobody")
    assert (said.status, "--home" in said.err) == (1, True)


def test_an_invalid_code_cannot_enrol(type_: Type) -> None:
    said = type_("enrol", "http://127.0.0.1:9", "HELLO")
    assert (said.status, "not an enrolment code" in said.err) == (2, True)


def test_by_hand(type_: Type) -> None:
    assert type_("scan", "--by-hand", "NIGHT-000003").line["ticket"]["number"] == "NIGHT-000003"
    said = type_("scan", "--by-hand", "NIGHT-777777")
    assert (said.status, "letter by letter" in said.err) == (1, True)


def test_an_unknown_number_is_one_line_and_the_numbers_behind_it_are_looked_up(type_: Type) -> None:
    said = type_("scan", "-", "--by-hand", stdin=b"NIGHT-000001\nNIGHT-777777\n\nCODE0002\n")
    assert [line["verdict"] for line in said.lines] == ["admit", "deny", "deny", "admit"]
    unknown = said.lines[1]
    assert (unknown["reason"], unknown["seq"], unknown["committed"]) == ("not_found", None, False)
    assert "letter by letter" in unknown["message"]
    assert said.status == 1


def test_doors_clock_and_annulment_ask_for_a_pin(type_: Type) -> None:
    seq = type_("scan", a_code(1)).line["seq"]
    pin = f"{PIN}\n".encode()
    assert type_("annul", str(seq), stdin=b"1\n").status == 1
    assert type_("annul", str(seq), "--reason", "turned round", stdin=pin).line["kind"] == "annulment"
    assert type_("scan", a_code(1)).line["reason"] == "admitted"
    assert type_("doors", "open", stdin=pin).line["details"] == {"opened": True, "gate": ""}
    assert type_("set-time", "2026-07-04T19:30:00Z", stdin=pin).line["source"] == "by hand"


def test_what_a_supervisor_did_is_reported_clearly(type_: Type) -> None:
    seq, pin = type_("scan", a_code(1)).line["seq"], f"{PIN}\n".encode()
    assert "The doors of Night Music are now open on this device, by Sam." in type_("doors", "open", stdin=pin).err
    assert "Gate A is no longer opened by hand" in type_("doors", "close", "--gate", "a", stdin=pin).err
    assert "Taken back: NIGHT-000001 (C 1), by Sam." in type_("annul", str(seq), stdin=pin).err
    assert "On this device nobody is inside Night Music" in type_("empty-house", stdin=pin).err
    assert "opened=True" in type_("journal").out


def test_what_can_be_taken_back_is_listed_as_a_steward_knows_it(type_: Type) -> None:
    type_("scan", a_code(1), "--reader", "left lane")
    type_("scan", "poster")
    type_("scan", a_code(3), "--mode", "test")
    type_("scan", a_code(2), "--reader", "right lane")
    type_("scan", a_code(2))
    lines = type_("annul", "--json").lines
    assert [(line["ticket"], line["row"], line["seat"], line["reader"]) for line in lines] == [
        ("NIGHT-000002", "C", "2", "right lane"),
        ("NIGHT-000001", "C", "1", "left lane"),
    ]
    local = datetime.fromisoformat(lines[0]["at"]).astimezone(ZoneInfo("Europe/Berlin"))
    assert lines[0]["local"].endswith(f"{local:%H:%M:%S}")
    said = type_("annul")
    (shown, _) = said.out.splitlines()
    for part in (str(lines[0]["seq"]), lines[0]["local"], "entry", "NIGHT-000002", "Row C Seat 2", "right lane"):
        assert part in shown
    type_("annul", str(lines[0]["seq"]), stdin=f"{PIN}\n".encode())
    assert [line["ticket"] for line in type_("annul", "--json").lines] == ["NIGHT-000001"]


def test_with_nothing_to_take_back_it_says_so(type_: Type) -> None:
    said = type_("annul")
    assert (said.status, said.out, "nothing to take back" in said.err) == (0, "", True)


def test_an_admission_is_taken_back_once(type_: Type) -> None:
    seq, pin = type_("scan", a_code(1)).line["seq"], f"{PIN}\n".encode()
    assert type_("annul", str(seq), stdin=pin).status == 0
    said = type_("annul", str(seq), stdin=pin)
    assert (said.status, said.out, "taken back already" in said.err) == (1, "", True)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(("annul", "99"), 1), (("doors", "open", "--gate", "Z"), 1), (("empty-house", "--event", "99"), 2)],
)
def test_what_cannot_be_done_costs_nobody_a_pin(type_: Type, arguments: tuple[str, ...], status: int) -> None:
    said = type_(*arguments, stdin=b"000000\n")
    assert (said.status, "PIN" in said.err) == (status, False)


def test_no_pin_at_all_is_no_wrong_one(type_: Type) -> None:
    for _ in range(6):
        assert "No PIN was entered" in type_("doors", "open", stdin=b"\n").err
    assert type_("doors", "open", stdin=f"{PIN}\n".encode()).status == 0
    assert "pin_failure" not in type_("journal").out


def test_whatif_answers_a_case_a_line(type_: Type) -> None:
    said = type_("whatif", "-", stdin=b'{"name":"plain"}\n{"name":"odd","colour":"red"}\n', at=None)
    assert said.lines[0]["name"] == "plain"
    assert "colour" in said.lines[1]["error"]


def test_a_file_that_is_not_an_image_is_reported_and_the_next_is_read(type_: Type, tmp_path: Path) -> None:
    (tmp_path / "no.png").write_text("no")
    said = type_("decode", str(tmp_path / "no.png"), str(tmp_path / "missing.png"), at=None)
    assert [line["codes"] for line in said.lines] == [[], []]
    assert all("error" in line for line in said.lines)
    assert (said.status, "no.png" in said.err, "missing.png" in said.err) == (1, True, True)


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59+14:00", "0001-01-01T00:00:00+14:00"])
def test_the_ends_of_the_calendar_are_answered_without_a_crash(type_: Type, at: str) -> None:
    said = type_("scan", "--at", at, a_code())

    assert said.status == 0
    assert said.line["reason"] in {"no_longer_valid", "not_valid_yet"}


@pytest.mark.parametrize("left", [0, 3_000])
def test_status_answers_and_warns_when_the_tickets_cannot_be_read(type_: Type, home: Path, left: int) -> None:
    (rows,) = (home / "snapshots").glob("event-*.rows")
    rows.write_bytes(rows.read_bytes()[:left])
    for beside in (home / "snapshots").glob("*-[ws]*"):
        beside.unlink()

    said = type_("status", "--json")

    assert said.status == 0
    assert not said.line["ready"]
    assert any(rows.name in arguments for arguments in said.line["warnings"])


def test_status_counts_the_tickets_that_outlived_the_gates_database(type_: Type, home: Path) -> None:
    for beside in home.glob("gate.db-*"):
        beside.unlink()
    (home / "gate.db").write_bytes(b"no database" * 500)
    assert type_("scan", a_code()).line["verdict"] == "admit"

    said = type_("status", "--json")

    assert said.line["ready"]
    assert said.line["revision"] is not None


def test_an_export_says_what_it_wrote(type_: Type, home: Path) -> None:
    file = home.parent / "roster.csv"
    assert type_("export", "roster", str(file)).line == {"file": str(file), "content": "roster", "lines": 5}
    again = type_("export", "roster", str(file))
    assert (again.status, again.out) == (1, "")
    assert "already exists" in again.err


@pytest.mark.parametrize("arguments", [("journal", "evening.xlsx"), ("seats", "evening.csv"), ("journal",)])
def test_an_export_with_wrong_arguments_is_one_line_and_status_2(type_: Type, arguments: tuple[str, ...]) -> None:
    said = type_("export", *arguments)
    assert (said.status, said.out, said.err.count("\n")) == (2, "", 1)
    assert not Path("evening.csv").exists()
