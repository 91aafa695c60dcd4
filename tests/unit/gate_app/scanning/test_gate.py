"""Presentations at a gate without a network."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec
import pytest

from gate_app.scanning.gate import Presentation
from shared.admission import Override
from shared.errors import Forbidden, NotFound
from shared.tickets import Entitlement
from shared.wire.snapshot import AnyRow, EventRow, GateRow, TicketState, ZoneRow
from tests.gate_builders import (
    EVENT,
    FLOOR,
    GATE_A,
    GATE_B,
    GateAtHome,
    LampOnTheTable,
    a_code,
    a_gate,
    a_key,
    a_ticket_row,
    an_event,
    give_rows,
    the_house,
)


@pytest.fixture
def gate(tmp_path: Path) -> GateAtHome:
    return a_gate(tmp_path)


def a_standing_house(capacity: int, tickets: int) -> list[AnyRow]:
    floor = {"zone": FLOOR, "entitlement": Entitlement.GA_STANDING}
    rows = [row for row in the_house(0) if not isinstance(row, ZoneRow)]
    rows.append(ZoneRow(FLOOR, "Floor", "ga_standing", capacity))
    return [*rows, *(a_ticket_row(number, **floor) for number in range(1, tickets + 1))]


def test_a_guest_comes_in_and_the_answer_says_everything_staff_need(gate: GateAtHome) -> None:
    result = gate.scan(a_code(3))
    assert (result["verdict"], result["reason"], result["committed"]) == ("admit", "admitted", True)
    assert result["ticket"] == result["ticket"] | {"type": "Regular", "zone": "Stalls", "row": "C", "seat": "3"}
    assert gate.lamp.given == [result]


def test_the_second_showing_is_refused_and_says_when_and_where(gate: GateAtHome) -> None:
    gate.scan(a_code(1))
    gate.hands.pass_ms(20 * 60_000)
    result = gate.scan(a_code(1))
    assert (result["reason"], "19:30" in result["message"], "gate A" in result["message"]) == (
        "already_used",
        True,
        True,
    )
    assert [passage["gate"] for passage in result["history"]] == ["A"]


def test_held_up_a_moment_longer_writes_nothing_and_lights_no_second_lamp(gate: GateAtHome) -> None:
    gate.scan(a_code(1))
    before = len(gate.entries())
    gate.hands.pass_ms(4_000)
    result = gate.scan(a_code(1))
    assert (result["verdict"], result["again"], len(gate.entries())) == ("admit", True, before)
    assert (len(gate.lamp.given), len(gate.lamp.repeated)) == (1, 1)


def test_the_other_reader_of_the_same_gate_judges_anew(gate: GateAtHome) -> None:
    gate.scan(a_code(1), reader="left")
    assert gate.scan(a_code(1), reader="right")["reason"] == "already_used"


def test_two_readers_show_one_ticket_in_the_same_moment_and_one_guest_comes_in(gate: GateAtHome) -> None:
    start, result = threading.Barrier(2), []

    def show(reader: str) -> None:
        start.wait()
        result.append(gate.context.gate.handle(Presentation(a_code(1), reader), LampOnTheTable()))

    threads = [threading.Thread(target=show, args=(reader,)) for reader in ("left", "right")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one["reason"] for one in result) == ["admitted", "already_used"]
    assert sum(entry.admitted for entry in gate.presentations()) == 1


def test_a_forged_code_is_reported_and_written_down_without_trusting_its_claims(gate: GateAtHome) -> None:
    result = gate.scan(a_code(1, a_key("somebody else's")))
    entry = gate.presentations()[-1]
    assert (result["reason"], result["ticket"]) == ("bad_signature", None)
    assert (entry.ticket_id, entry.details["claims"][0]) == (0, 3)


def test_a_ticket_of_another_organisation_whose_key_has_the_same_id_is_not_called_forged(gate: GateAtHome) -> None:
    """Key ids are unique within an organisation: only at an event that this gate serves is it a forgery."""
    result = gate.scan(a_code(1, a_key("another organisation's"), event_number=EVENT + 1))
    assert (result["reason"], result["ticket"]) == ("unknown_key", None)


def test_a_test_scan_counts_for_nobody(gate: GateAtHome) -> None:
    assert gate.scan(a_code(1), mode="test")["reason"] == "test_ok"
    assert gate.scan(a_code(1))["reason"] == "admitted"


def test_in_and_out_and_in_again(tmp_path: Path) -> None:
    rows = [*the_house(0), a_ticket_row(1, entitlement=Entitlement.UNLIMITED_REENTRY)]
    gate = a_gate(tmp_path, rows)
    reasons = [gate.scan(a_code(1), direction=way)["reason"] for way in ("entry", "exit", "exit", "entry")]
    assert reasons == ["admitted", "exited", "exited", "admitted_reentry"]
    gate.hands.pass_ms(6_000)
    assert gate.scan(a_code(1), direction="exit")["reason"] == "exited"
    gate.hands.pass_ms(6_000)
    assert gate.scan(a_code(1), direction="exit")["reason"] == "not_inside"


def test_a_steward_types_the_confirmation_code(gate: GateAtHome) -> None:
    result = gate.scan(" code0002 ", by_hand=True)
    assert (result["reason"], gate.presentations()[-1].kind) == ("admitted", "by_hand")
    gate.hands.pass_ms(60_000)
    assert gate.scan(a_code(2))["reason"] == "already_used", "what was admitted by hand counts against the code"


def test_nobody_is_found_under_a_mistyped_number(gate: GateAtHome) -> None:
    with pytest.raises(NotFound, match="letter by letter"):
        gate.scan("NIGHT-999999", by_hand=True)


def test_a_ticket_number_held_in_front_of_a_camera_is_not_a_ticket(gate: GateAtHome) -> None:
    assert gate.scan("NIGHT-000002")["reason"] == "unreadable"


def test_a_supervisor_overrides_a_refusal_and_the_refusal_stays_in_the_journal(gate: GateAtHome) -> None:
    gate.scan(a_code(1))
    result = gate.scan(a_code(1), override=Override(1, "lost child"))
    entry = gate.presentations()[-1]
    assert result["reason"] == "admitted_override"
    assert (entry.override_by, entry.override_reason, entry.override_denial) == (1, "lost child", "already_used")


def test_a_higher_issue_that_was_shown_here_invalidates_the_earlier_ones(gate: GateAtHome) -> None:
    gate.scan(a_code(1, issue=2, issued_at=1_900_000_000))
    gate.hands.pass_ms(60_000)
    assert gate.scan(a_code(1))["reason"] == "ticket_replaced"


def test_a_higher_issue_shown_in_vain_invalidates_them_too(gate: GateAtHome) -> None:
    refused = gate.scan(a_code(1, issue=2))
    assert refused["reason"] == "not_in_snapshot"
    assert gate.scan(a_code(1))["reason"] == "ticket_replaced"


def test_a_cancelled_ticket_stays_out_and_the_change_is_heard_by_the_next_scan(gate: GateAtHome) -> None:
    rows = [row for row in the_house() if getattr(row, "ticket_id", 0) != a_ticket_row(1).ticket_id]
    give_rows(gate, [*rows, a_ticket_row(1, state=TicketState.CANCELLED)], revision=2)
    assert gate.scan(a_code(1))["reason"] == "ticket_cancelled"


def test_a_device_works_only_at_gates_it_is_allowed(gate: GateAtHome) -> None:
    with pytest.raises(Forbidden, match="may not be used at gate B"):
        gate.scan(a_code(1), gate="b")
    with pytest.raises(NotFound, match="Gates: A, B"):
        gate.scan(a_code(1), gate="Z")
    assert gate.presentations() == []


def test_a_full_floor_stays_full_until_somebody_leaves(tmp_path: Path) -> None:
    gate = a_gate(tmp_path, a_standing_house(2, 4))
    gate.context.gathering.occupancy(gate.context.roster.snapshots[7], gate.hands.true).heard(gate.hands.up)
    show = {number: a_code(number, zone=FLOOR) for number in range(1, 5)}
    assert [gate.scan(show[number])["reason"] for number in (1, 2, 3)] == ["admitted", "admitted", "zone_full"]
    gate.scan(show[1], direction="exit")
    assert gate.scan(show[4])["reason"] == "admitted"


def test_a_gate_that_is_offline_admits_only_its_share(tmp_path: Path) -> None:
    gate = a_gate(tmp_path, a_standing_house(5, 6))
    answers = [gate.scan(a_code(number, zone=FLOOR)) for number in range(1, 5)]
    # Two devices share five places: the first in number has three.
    assert [result["reason"] for result in answers] == ["admitted"] * 3 + ["zone_full"]
    assert all("capacity_estimated" in result["notices"] for result in answers[:3])


def test_a_closed_gate_is_opened_by_a_supervisor_and_stays_open_over_a_restart(tmp_path: Path) -> None:
    rows: list[AnyRow] = [row for row in the_house() if not isinstance(row, GateRow)]
    gate = a_gate(tmp_path, [*rows, GateRow(GATE_A, "A", "Main", open=False), GateRow(GATE_B, "B", "Side")])
    assert gate.scan(a_code(1))["reason"] == "gate_closed"
    sam = next(iter(gate.context.roster.snapshots[7].rows.supervisors.values()))
    gate.context.supervisor_actions().open_doors(7, "A", sam, opened=True)
    gate.hands.pass_ms(6_000)
    assert gate.scan(a_code(1))["reason"] == "admitted"
    gate.crash()
    assert gate.scan(a_code(2))["reason"] == "admitted"
    gate.context.supervisor_actions().open_doors(7, "A", sam, opened=False)
    assert gate.scan(a_code(3))["reason"] == "gate_closed"
    assert [entry.details["opened"] for entry in gate.entries() if entry.kind == "doors"] == [True, False]


def test_doors_are_opened_before_the_server_could_do_so(tmp_path: Path) -> None:
    event: EventRow = an_event(status="published")
    gate = a_gate(tmp_path, the_house(event=event))
    assert gate.scan(a_code(1))["reason"] == "event_not_live"
    sam = next(iter(gate.context.roster.snapshots[7].rows.supervisors.values()))
    gate.context.supervisor_actions().open_doors(7, "", sam, opened=True)
    assert gate.scan(a_code(2))["reason"] == "admitted"


def test_a_mistaken_admission_is_taken_back(gate: GateAtHome) -> None:
    seq = gate.scan(a_code(1))["seq"]
    sam = next(iter(gate.context.roster.snapshots[7].rows.supervisors.values()))
    gate.context.supervisor_actions().annul(seq, "turned round", sam)
    gate.hands.pass_ms(6_000)
    assert gate.scan(a_code(1))["reason"] == "admitted"
    with pytest.raises(NotFound):
        gate.context.supervisor_actions().annul(seq + 1, "", sam)


def test_a_poster_in_front_of_the_camera_does_not_fill_the_journal(gate: GateAtHome) -> None:
    for _ in range(10):
        for poster in range(30):
            assert gate.scan(f"poster {poster}")["committed"]
        gate.hands.pass_ms(100)
    assert len(gate.presentations()) == 20
    gate.hands.pass_ms(60_000)
    gate.scan(a_code(1))
    result = [entry.details for entry in gate.entries() if entry.kind == "suppressed"]
    assert result == [{"count": 280}]


def test_an_unenrolled_gate_says_so_and_writes_it_down(tmp_path: Path) -> None:
    gate = GateAtHome(tmp_path)
    result = gate.scan(a_code(1))
    assert (result["reason"], "not enrolled" in result["message"], result["committed"]) == (
        "gate_not_ready",
        True,
        True,
    )


def test_what_was_only_counted_is_reported_by_the_next_process(gate: GateAtHome) -> None:
    for _ in range(4):
        gate.scan("poster")
        gate.scan("another poster")
    gate.crash()
    gate.scan(a_code(1))
    assert [entry.details for entry in gate.entries() if entry.kind == "suppressed"] == [{"count": 6}]
    gate.crash()
    gate.scan(a_code(2))
    assert len([entry for entry in gate.entries() if entry.kind == "suppressed"]) == 1


def test_a_gate_for_both_ways_is_an_entrance_until_somebody_says_exit(gate: GateAtHome) -> None:
    post = gate.context.assignments.by_event[EVENT]
    gate.context.assignments.by_event[EVENT] = msgspec.structs.replace(post, direction="both")
    assert gate.scan(a_code(1))["reason"] == "admitted"
    assert gate.scan(a_code(1), direction="exit")["reason"] == "exited"


def test_a_mode_that_this_program_does_not_know_counts_for_nobody(gate: GateAtHome) -> None:
    post = gate.context.assignments.by_event[EVENT]
    gate.context.assignments.by_event[EVENT] = msgspec.structs.replace(post, mode="rehearsal")
    assert gate.scan(a_code(1))["reason"] == "test_ok"


def test_a_supervisor_resets_the_count_and_everybody_can_enter_again(tmp_path: Path) -> None:
    gate = a_gate(tmp_path, a_standing_house(2, 4))
    snapshot = gate.context.roster.snapshots[EVENT]
    for number in (1, 2):
        gate.scan(a_code(number, zone=FLOOR))
    sam = next(iter(snapshot.rows.supervisors.values()))
    gate.hands.pass_ms(60_000)
    entry = gate.context.supervisor_actions().empty_house(EVENT, sam)
    assert (entry.kind, entry.details["counts_from"]) == ("count_correction", gate.hands.true)
    assert gate.context.gathering.occupancy(snapshot, gate.hands.true).inside == {}
    assert gate.scan(a_code(1, zone=FLOOR))["reason"] == "admitted_reentry"
    gate.crash()
    assert gate.scan(a_code(2, zone=FLOOR))["verdict"] == "admit"
    gate.hands.pass_ms(60_000)
    assert gate.scan(a_code(2, zone=FLOOR))["verdict"] == "deny"
