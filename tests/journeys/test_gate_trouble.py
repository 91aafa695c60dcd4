"""Failures at a single gate on a busy night, and how it handles them."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from gate_app.command_line import commands
from gate_app.status import MEMORY_LOST_MESSAGE, status
from gate_app.sync.client import HttpResponse
from shared.errors import GatehouseError
from shared.journal import scans
from shared.wire.snapshot import Movement, MovementKind, PolicyRow, SupervisorRow, TicketState, WhenUncertain
from tests.gate_builders import (
    EVENT,
    HOUR,
    GateAtHome,
    Hands,
    PowerCut,
    a_code,
    a_gate,
    a_ticket_row,
    an_event,
    enrolled,
    the_house,
    ticket_id_of,
)
from tests.journeys.syncing import sync
from tests.server_in_memory import ServerInMemory


@pytest.fixture
def gate(tmp_path: Path) -> GateAtHome:
    return a_gate(tmp_path / "a")


# -- power ------------------------------------------------------------------------------------------------------


def test_power_cut_between_journal_and_lamp(gate: GateAtHome) -> None:
    gate.lamp.cut = True
    with pytest.raises(PowerCut):
        gate.scan(a_code(1))
    gate.crash(reboot=True, away_ms=40_000)
    result = gate.scan(a_code(1), reader="another reader")
    assert (result["verdict"], result["again"]) == ("admit", True)
    assert gate.lamp.given == [result], "this guest has not seen a lamp yet: it lights, and the barrier opens"
    assert [entry.reason for entry in gate.presentations()] == ["admitted"]
    gate.hands.pass_ms(10_000)
    assert gate.scan(a_code(1))["reason"] == "already_used", "once, and not twice"


def test_power_cut_after_the_lamp(gate: GateAtHome) -> None:
    gate.scan(a_code(1))
    gate.crash(reboot=True)
    assert gate.scan(a_code(1))["reason"] == "already_used"


def test_power_cut_before_the_lamp_and_the_guest_returns_much_later(gate: GateAtHome) -> None:
    gate.lamp.cut = True
    with pytest.raises(PowerCut):
        gate.scan(a_code(1))
    gate.crash(away_ms=121_000)
    assert gate.scan(a_code(1))["reason"] == "already_used"


def test_power_cut_before_the_commit(gate: GateAtHome, monkeypatch: pytest.MonkeyPatch) -> None:
    real = scans.encode
    monkeypatch.setattr(scans, "encode", lambda entry: (_ for _ in ()).throw(PowerCut()))
    with pytest.raises(PowerCut):
        gate.scan(a_code(1))
    monkeypatch.setattr(scans, "encode", real)
    gate.crash()
    assert gate.scan(a_code(1))["reason"] == "admitted"
    assert gate.context.journal.verify().ok


# -- disk -------------------------------------------------------------------------------------------------------


def test_a_full_disk_admits_nobody_until_there_is_space(gate: GateAtHome) -> None:
    connection = gate.context.database.connection
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    answers = [gate.scan(a_code(n), reader=f"r{number}") for number in range(40) for n in (1, 2, 3)]
    assert answers[-1]["reason"] == "cannot_record"
    assert (answers[-1]["verdict"], answers[-1]["committed"], answers[-1]["seq"]) == ("deny", False, None)
    assert "call the operator" in answers[-1]["message"].lower()
    assert {gate.scan("poster")["reason"] for _ in range(3)} <= {"cannot_record", "unreadable"}
    gate.hands.pass_ms(60_000)
    assert gate.scan(a_code(4))["reason"] == "cannot_record"
    gate.context.database.commits = 10_000
    gate.context.database.rest()
    connection.execute("PRAGMA max_page_count = 1000000")
    assert gate.scan(a_code(4))["reason"] == "admitted"
    assert gate.context.journal.verify().ok


def test_the_gate_starts_although_its_database_is_destroyed(gate: GateAtHome) -> None:
    server = ServerInMemory(gate.hands, the_house())
    sync(gate, server)
    gate.scan(a_code(1))
    sync(gate, server)
    gate.context.close()
    path = gate.folder / "gate.db"
    for leftover in gate.folder.glob("gate.db-*"):
        leftover.unlink()
    path.write_bytes(b"\0" * 100 + path.read_bytes()[100:8000][::-1])
    context = gate.switch_on()
    assert "set aside as gate-damaged-1.db" in context.problems[0]
    assert gate.scan(a_code(2))["reason"] == "admitted"
    assert (gate.folder / "gate-damaged-1.db").exists()
    sync(gate, server)
    assert gate.scan(a_code(1))["reason"] == "already_used", "the server remembered what this gate forgot"


def test_a_gate_that_lost_its_movements_warns_until_it_has_synced(gate: GateAtHome) -> None:
    server = ServerInMemory(gate.hands, the_house())
    gate.scan(a_code(1))
    sync(gate, server)
    gate.context.close()
    (gate.folder / "gate.db").unlink()
    gate.switch_on()
    result = status(gate.context.status_source())
    assert (result["memory_lost"], result["warnings"][0]) == (True, MEMORY_LOST_MESSAGE)
    assert gate.scan(a_code(1))["reason"] == "admitted", "this is what the warning is about"
    server.online = False
    sync(gate, server)
    gate.context.close()
    gate.switch_on()
    assert status(gate.context.status_source())["memory_lost"], "a start later it still has not synced"
    server.online = True
    sync(gate, server)
    result = status(gate.context.status_source())
    assert (result["memory_lost"], MEMORY_LOST_MESSAGE in result["warnings"]) == (False, False)


def test_a_gate_that_never_had_tickets_has_lost_nothing(tmp_path: Path) -> None:
    enrolled(tmp_path / "new")
    assert not status(GateAtHome(tmp_path / "new").context.status_source())["memory_lost"]


def test_everything_in_a_home_but_the_key_can_be_lost(gate: GateAtHome) -> None:
    for path in (gate.folder / "gate.db", gate.folder / "posts.json"):
        gate.context.close()
        path.unlink()
    context = gate.switch_on()
    assert context.journal.verify().ok


# -- network ----------------------------------------------------------------------------------------------------


def test_a_captive_portal_responds_ok_and_nothing_counts_as_uploaded(gate: GateAtHome) -> None:
    server = ServerInMemory(gate.hands, the_house())
    server.page = HttpResponse(200, {"Content-Type": "text/html"}, b"<html>Please accept our terms</html>")
    gate.scan(a_code(1))
    unsent = gate.context.journal.unsent()
    result = sync(gate, server)
    assert "need a login" in str(result["error"])
    assert (gate.context.journal.unsent(), result["pushed"]) == (unsent, 0)
    assert gate.scan(a_code(2))["reason"] == "admitted"
    server.page = None
    assert sync(gate, server)["unsent"] == 0
    assert len(next(iter(server.entries.values()))) == len(gate.entries())


def test_the_connection_is_lost_during_the_first_snapshot(tmp_path: Path) -> None:
    hands = Hands()
    gate = a_gate(tmp_path / "a", hands=hands)
    gate.context.roster.wipe()
    server = ServerInMemory(hands, the_house(40))
    server.frame_limit, server.cut_after_frames = 10, 3
    assert "connection was lost" in str(sync(gate, server)["error"])
    assert gate.scan(a_code(1))["reason"] == "gate_not_ready"
    server.cut_after_frames = None
    assert sync(gate, server)["revision"] == server.revision
    assert gate.scan(a_code(40), reader="r2")["reason"] == "admitted"


def test_the_snapshot_in_use_stays_until_the_new_one_is_complete(gate: GateAtHome) -> None:
    server = ServerInMemory(gate.hands, the_house(40), lineage=b"lineage2")
    server.frame_limit, server.cut_after_frames = 10, 2
    assert "connection was lost" in str(sync(gate, server)["error"])
    assert gate.scan(a_code(1))["reason"] == "admitted"
    assert gate.context.roster.snapshots[EVENT].position.lineage == b"lineage1"


def test_a_row_changes_while_the_snapshot_is_downloaded(gate: GateAtHome) -> None:
    gate.context.roster.wipe()
    server = ServerInMemory(gate.hands, the_house(40))
    server.frame_limit = 10
    puller, _ = gate.context.sync(server, 0)
    for _ in range(4):
        puller.run_once()
    server.put(a_ticket_row(1, state=TicketState.BLOCKED))
    server.put(a_ticket_row(41))
    while not puller.exchange.idle:
        puller.run_once()
    assert gate.context.roster.snapshots[EVENT].position.digest == server.digest()
    assert gate.scan(a_code(1))["reason"] == "ticket_blocked"
    assert gate.scan(a_code(41))["reason"] == "admitted"


def test_download_does_not_wait_for_upload(gate: GateAtHome) -> None:
    server = ServerInMemory(gate.hands, [*the_house(), a_ticket_row(2, state=TicketState.CANCELLED)])
    gate.scan(a_code(1))
    puller, pusher = gate.context.sync(server, 0)
    puller.exchange.greet_again()
    server.alter = lambda reply: replace(reply, headers={}) if server.requested_paths[-1].endswith("journal") else reply
    assert "error" in commands.sync_once(gate.context, puller, pusher)
    assert gate.scan(a_code(2))["reason"] == "ticket_cancelled"


def test_one_bad_entry_blocks_nothing_behind_it(gate: GateAtHome) -> None:
    server = ServerInMemory(gate.hands, the_house())
    server.quarantine = {2}
    for number in (1, 2, 3):
        gate.scan(a_code(number))
    result = sync(gate, server)
    assert (result["quarantined"], result["unsent"]) == (1, 0)


def test_what_another_gate_admitted_is_refused_here(gate: GateAtHome) -> None:
    server = ServerInMemory(gate.hands, the_house())
    sync(gate, server)
    code_hash = scans.decode(scans.encode(gate.entries()[0])).code_hash
    server.movements.append(
        Movement(12, 5, 1, MovementKind.ENTRY, ticket_id_of(1), 1, code_hash, gate.hands.true, 2, 2)
    )
    sync(gate, server)
    result = gate.scan(a_code(1))
    assert (result["reason"], "gate B" in result["message"]) == ("already_used", True)


def test_a_forged_code_cannot_use_up_a_ticket(gate: GateAtHome) -> None:
    server = ServerInMemory(gate.hands, the_house())
    server.movements.append(
        Movement(12, 5, 1, MovementKind.ENTRY, ticket_id_of(1), 1, b"guessed, not read"[:16], gate.hands.true, 2, 2)
    )
    sync(gate, server)
    assert gate.scan(a_code(1))["reason"] == "admitted"
    assert gate.presentations()[-1].details["foreign"] == [[12, 5, 1]], "an alarm for the organiser"


def test_the_server_is_restored_from_yesterdays_backup(gate: GateAtHome) -> None:
    server = ServerInMemory(gate.hands, [*the_house(), a_ticket_row(3, state=TicketState.CANCELLED)])
    gate.scan(a_code(1))
    sync(gate, server)
    server.put(a_ticket_row(3))
    server.restore()
    result = sync(gate, server)
    assert (result["unsent"], len(next(iter(server.entries.values())))) == (0, gate.context.journal.head.seq)
    assert gate.scan(a_code(3))["reason"] == "ticket_cancelled", "it was cancelled before the restoration"
    assert gate.scan(a_code(1))["reason"] == "already_used"


def test_a_revoked_device_wipes_its_rows_and_may_still_upload(gate: GateAtHome) -> None:
    server = ServerInMemory(gate.hands, the_house())
    sync(gate, server)
    gate.scan(a_code(1))
    server.revoked = True
    sync(gate, server)
    result = gate.scan(a_code(2))
    assert (result["reason"], "revoked" in result["message"] or "shut out" in result["message"]) == (
        "gate_not_ready",
        True,
    )
    assert not list((gate.folder / "snapshots").glob("*.rows"))
    gate.crash()
    assert gate.scan(a_code(2))["reason"] == "gate_not_ready"
    assert sum(len(held) for held in server.entries.values()) >= 3


# -- two machines, one key --------------------------------------------------------------------------------------


def test_an_older_image_of_the_card_is_restored(gate: GateAtHome, tmp_path: Path) -> None:
    server = ServerInMemory(gate.hands, the_house())
    gate.scan(a_code(1))
    sync(gate, server)
    gate.context.close()
    shutil.copytree(gate.folder, tmp_path / "image")
    gate.switch_on()
    gate.scan(a_code(2))
    sync(gate, server)
    gate.context.close()
    shutil.rmtree(gate.folder)
    shutil.copytree(tmp_path / "image", gate.folder)
    gate.seed = "later"
    context = gate.switch_on()
    old = context.journal.branch.number
    sync(gate, server)
    assert context.journal.branch.number != old
    assert "older copy" in context.sync_state.message
    assert gate.scan(a_code(2))["reason"] == "already_used", "the server sent what this card had lost"
    assert context.journal.unsent() == 1


def test_a_copied_home_scans_offline_and_both_journals_arrive(gate: GateAtHome, tmp_path: Path) -> None:
    server = ServerInMemory(gate.hands, the_house())
    sync(gate, server)
    gate.context.close()
    shutil.copytree(gate.folder, tmp_path / "clone")
    gate.switch_on()
    clone = GateAtHome(tmp_path / "clone", gate.hands, seed="clone")
    gate.scan(a_code(1))
    clone.scan(a_code(2))
    sync(gate, server)
    result = sync(clone, server)
    assert result["unsent"] == 0
    assert "another machine" in clone.context.sync_state.message
    assert clone.scan(a_code(3))["committed"]


# -- time -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [-56, 64])
def test_a_gate_with_a_wildly_wrong_clock_admits_tonights_guest(gate: GateAtHome, wrong: int) -> None:
    server = ServerInMemory(gate.hands, [*the_house(0), a_ticket_row(1, not_after=gate.hands.true // 1000 + 3600)])
    sync(gate, server)
    gate.crash(reboot=True, away_ms=300_000)
    gate.hands.wall_error = wrong * 365 * 24 * HOUR
    gate.crash()
    result = gate.scan(a_code(1))
    assert (result["reason"], "clock_uncertain" in result["notices"]) == ("admitted", True)
    entry = gate.presentations()[-1]
    assert abs(entry.wall + entry.offset - gate.hands.true) < HOUR


@pytest.mark.parametrize("years", [-20, 20])
def test_an_implausible_time_does_not_set_the_clock(gate: GateAtHome, years: int) -> None:
    sync(gate, ServerInMemory(gate.hands, the_house()))
    by = the_house()[9]
    assert isinstance(by, SupervisorRow)
    before = gate.context.time.now().at
    with pytest.raises(GatehouseError, match="Nothing was changed"):
        gate.context.supervisor_actions().set_clock(before + years * 365 * 24 * HOUR, by)
    assert gate.context.time.now().at == before
    assert gate.context.supervisor_actions().set_clock(before + HOUR, by).at == before + HOUR


def test_an_organiser_may_have_uncertain_clocks_refuse(gate: GateAtHome) -> None:
    strict = PolicyRow(clock_uncertain=WhenUncertain.DENY)
    server = ServerInMemory(
        gate.hands, [*the_house(0), strict, a_ticket_row(1, not_after=gate.hands.true // 1000 + 3600)]
    )
    sync(gate, server)
    assert gate.scan(a_code(1), mode="test")["reason"] == "test_ok"
    gate.crash(reboot=True, away_ms=300_000)
    result = gate.scan(a_code(1))
    assert (result["reason"], "clock_uncertain" in result["notices"]) == ("not_valid_yet", True)


def test_every_sync_leaves_a_time_anchor(gate: GateAtHome) -> None:
    gate.hands.wall_error = 90_000
    server = ServerInMemory(gate.hands, the_house())
    gate.scan(a_code(1))
    sync(gate, server)
    corrected = {entry.seq: at for entry, at, _ in scans.correct(gate.entries())}
    assert corrected[2] == pytest.approx(gate.hands.true, abs=10)


def test_doors_open_as_planned_although_the_uplink_failed_before(tmp_path: Path) -> None:
    hands = Hands()
    gate = a_gate(
        tmp_path / "a", the_house(event=an_event(status="published", go_live_at=hands.true + HOUR)), hands=hands
    )
    sync(gate, ServerInMemory(hands, the_house(event=an_event(status="published", go_live_at=hands.true + HOUR))))
    assert gate.scan(a_code(1))["reason"] == "event_not_live"
    hands.pass_ms(HOUR + 60_000)
    assert gate.scan(a_code(1))["reason"] == "admitted"


def test_a_home_of_a_newer_version_is_left_alone(gate: GateAtHome) -> None:
    gate.context.close()
    with sqlite3.connect(gate.folder / "gate.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(GatehouseError, match="newer gate program"):
        gate.switch_on()
