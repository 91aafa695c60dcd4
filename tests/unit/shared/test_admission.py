"""Admission rules that what-if cases cannot express."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from shared.admission import ENTRY_ROWS, EXIT_ROWS, GROUND_ROWS, Direction, Mode, Override, Readiness, Room, decide
from shared.reasons import ADMITTING, Reason
from shared.tickets import Entitlement, Refusal, TicketFlags
from shared.wire.snapshot import GateRow, PolicyRow, TicketState, WhenUncertain, ZoneRow
from tests.unit.shared.attempt_builders import (
    FLOOR,
    GATE_A,
    a_code,
    a_row,
    a_ticket,
    an_attempt,
    an_event,
    entered,
    left,
    ms,
)

SUPERVISOR = Override(7, "went to the car")


def test_a_good_ticket_at_its_own_gate_is_let_in() -> None:
    verdict = decide(an_attempt())
    assert (verdict.reason, verdict.message, verdict.notices) == (Reason.ADMITTED, "Admitted.", ())
    assert verdict.admitted


def test_every_reason_stands_in_the_table_once_and_in_its_order() -> None:
    rows = (*GROUND_ROWS, *ENTRY_ROWS, *EXIT_ROWS)
    tabled = [reason for row in rows for reason in row.reasons]
    order = [reason for reason in Reason if reason not in ADMITTING]
    assert sorted(tabled, key=order.index) == order
    assert [row.number for row in (*GROUND_ROWS, *ENTRY_ROWS)] == [0, 1, 4, 5, 6, 7, 8, 9, 10, 11]


@pytest.mark.parametrize("reason", GROUND_ROWS[1].reasons)
def test_whatever_reading_refused_is_the_answer(reason: Reason) -> None:
    assert decide(an_attempt(code=Refusal(reason), event=None)).reason is reason


def test_a_device_that_is_not_ready_says_why() -> None:
    verdict = decide(an_attempt(readiness=Readiness(ready=False, why="This device was revoked.")))
    assert verdict.message == "This device was revoked. This gate cannot admit anyone; call the operator."


def test_a_revoked_key_is_recognised_from_one_never_heard_of() -> None:
    revoked = decide(an_attempt(code=Refusal(Reason.UNKNOWN_KEY, key_revoked=True)))
    unknown = decide(an_attempt(code=Refusal(Reason.UNKNOWN_KEY)))
    assert revoked.reason is unknown.reason is Reason.UNKNOWN_KEY
    assert "revoked" in revoked.message
    assert "newer than this gate's last sync" in unknown.message


def test_a_ticket_for_tomorrows_concert_says_so_where_it_is_known() -> None:
    verdict = decide(an_attempt(event=None, other_event="Quartet, Sunday at 20:00"))
    assert verdict.reason is Reason.WRONG_EVENT
    assert verdict.message.startswith("A ticket for another event: Quartet, Sunday at 20:00.")


def test_an_event_that_the_ticket_does_not_name_is_the_wrong_one() -> None:
    assert decide(an_attempt(event=an_event(number=8))).reason is Reason.WRONG_EVENT


# --- Doors opened by a supervisor on one device ---


@pytest.mark.parametrize(
    ("event", "now", "reason"),
    [
        (an_event(status="published"), "19:30", Reason.ADMITTED),
        (an_event(status="published", go_live_at=ms("19:45")), "19:30", Reason.ADMITTED),
        (an_event(status="postponed"), "19:30", Reason.EVENT_POSTPONED),
        (an_event(status="postponed", rescheduled_at=ms("20:00")), "19:30", Reason.ADMITTED),
        (an_event(status="postponed", rescheduled_at=ms("2026-07-11T20:00+02:00")), "19:30", Reason.EVENT_POSTPONED),
        (an_event(status="cancelled"), "19:30", Reason.EVENT_CANCELLED),
        (an_event(status="ended"), "19:30", Reason.EVENT_ENDED),
    ],
)
def test_opening_the_doors_hurries_what_is_planned_and_revives_nothing(event: object, now: str, reason: Reason) -> None:
    assert decide(an_attempt(event=event, now=ms(now), doors_opened=True)).reason is reason


def test_a_supervisor_opens_a_closed_gate_on_one_device() -> None:
    closed = replace(GATE_A, open=False)
    assert decide(an_attempt(gate=closed)).reason is Reason.GATE_CLOSED
    assert decide(an_attempt(gate=closed, gate_opened=True)).reason is Reason.ADMITTED


def test_opening_a_gate_does_not_make_it_serve_another_zone() -> None:
    balcony_only = replace(GATE_A, open=False, zones=(FLOOR + 1,))
    assert decide(an_attempt(gate=balcony_only, gate_opened=True)).reason is Reason.WRONG_GATE


# --- Naming the right gate ---

GATES = (
    replace(GATE_A, zones=(9,)),
    GateRow(2, "B", "Side", zones=(8,)),
    GateRow(3, "C", "Stairs", zones=(FLOOR,)),
    GateRow(4, "D", "Shut", open=False, step_free=True),
    GateRow(7, "G", "Ramp", step_free=True),
)


def test_the_wrong_gate_names_the_nearest_that_serves() -> None:
    verdict = decide(an_attempt(gate=GATES[0], gates=GATES))
    assert verdict.message == "Gate A does not serve zone floor. Send the guest to gate C."


def test_a_wheelchair_is_sent_to_the_nearest_step_free_gate_that_is_open() -> None:
    verdict = decide(an_attempt(gate=GATES[0], gates=GATES, row=a_row(flags=TicketFlags.WHEELCHAIR)))
    assert verdict.message.endswith("Send the guest to gate G, step-free.")
    assert "wheelchair" in verdict.notices


def test_where_no_gate_is_step_free_the_sentence_says_so() -> None:
    verdict = decide(an_attempt(gate=GATES[0], gates=GATES[:3], row=a_row(flags=TicketFlags.WHEELCHAIR)))
    assert verdict.message.endswith("gate C; it is not step-free, so offer help.")


def test_where_no_gate_serves_a_supervisor_is_asked() -> None:
    assert decide(an_attempt(gate=GATES[0], gates=GATES[:2])).message.endswith(
        "Ask a supervisor where to send the guest."
    )


def test_a_device_without_a_gate_at_this_event_lets_nobody_in_but_everybody_out() -> None:
    assert decide(an_attempt(gate=None)).reason is Reason.WRONG_GATE
    leaving = an_attempt(gate=None, direction=Direction.EXIT, history=(entered("19:00"),))
    assert decide(leaving).reason is Reason.EXITED


# --- Issues, snapshots, claims ---


def test_an_issue_lower_than_a_peer_has_seen_is_replaced_even_where_the_snapshot_does_not_know() -> None:
    assert decide(an_attempt(highest_issue_seen=2)).reason is Reason.TICKET_REPLACED
    assert decide(an_attempt(highest_issue_seen=2, row=None)).reason is Reason.TICKET_REPLACED


def test_the_highest_issue_seen_is_itself_good() -> None:
    code = a_code(ticket=a_ticket(issue=2, issued_at=ms("19:10") // 1000))
    verdict = decide(an_attempt(code=code, highest_issue_seen=2))
    assert (verdict.reason, verdict.notices) == (Reason.ADMITTED, ("not_yet_synced",))


def test_a_higher_issue_from_before_the_snapshot_ought_to_be_known() -> None:
    code = a_code(ticket=a_ticket(issue=2))
    assert decide(an_attempt(code=code)).reason is Reason.NOT_IN_SNAPSHOT


def test_a_ticket_issued_in_the_very_second_of_the_snapshot_may_be_newer() -> None:
    as_of = ms("19:00") + 400
    unknown = an_attempt(row=None, snapshot_as_of=as_of)
    same_second = structs.replace(unknown, code=a_code(ticket=a_ticket(issued_at=as_of // 1000)))
    second_before = structs.replace(unknown, code=a_code(ticket=a_ticket(issued_at=as_of // 1000 - 1)))
    assert decide(same_second).reason is Reason.ADMITTED
    assert decide(second_before).reason is Reason.NOT_IN_SNAPSHOT


def test_the_snapshots_word_on_limits_wins_over_the_printed_claims() -> None:
    printed = a_code(ticket=a_ticket(entitlement=Entitlement.UNLIMITED_REENTRY, not_after=ms("18:00") // 1000))
    assert decide(an_attempt(code=printed)).reason is Reason.ADMITTED
    assert decide(an_attempt(code=printed, history=(entered("19:00"),))).reason is Reason.ALREADY_USED


def test_the_snapshots_word_on_the_zone_wins_over_the_printed_claim() -> None:
    moved = an_attempt(gate=replace(GATE_A, zones=(9,)), row=a_row(zone=9))
    assert decide(moved).reason is Reason.ADMITTED


def test_a_higher_issue_is_judged_by_its_own_claims() -> None:
    code = a_code(ticket=a_ticket(issue=2, issued_at=ms("19:10") // 1000, not_after=ms("19:20") // 1000))
    verdict = decide(an_attempt(code=code, row=a_row(state=TicketState.CANCELLED)))
    assert verdict.reason is Reason.NO_LONGER_VALID


# --- History ---


def test_equal_times_are_ordered_by_device_then_count() -> None:
    standing = a_row(entitlement=Entitlement.GA_STANDING)
    came_last = (left("19:00", device=1, seq=9), entered("19:00", device=2, seq=1))
    went_last = (left("19:00", device=3, seq=1), entered("19:00", device=2, seq=5))
    assert decide(an_attempt(row=standing, history=came_last)).reason is Reason.ALREADY_INSIDE
    assert decide(an_attempt(row=standing, history=went_last)).reason is Reason.ADMITTED_REENTRY


def test_two_movements_after_now_are_both_just_now_and_so_ordered_by_device() -> None:
    standing = a_row(entitlement=Entitlement.GA_STANDING)
    history = (entered("19:40", device=2), left("19:50", device=1))
    assert decide(an_attempt(row=standing, history=history)).reason is Reason.ALREADY_INSIDE


def test_a_movement_after_now_counts_by_its_own_time_against_counts_from() -> None:
    event = an_event(counts_from=ms("19:35"))
    assert decide(an_attempt(event=event, history=(entered("19:40"),))).reason is Reason.ALREADY_USED


def test_the_answer_says_when_and_at_which_gate() -> None:
    gates = (GATE_A, GateRow(2, "B", "Side"))
    verdict = decide(an_attempt(history=(entered("18:05", gate=2),), gates=gates))
    assert verdict.message == "Used at 16:05 UTC at gate B, 85 minutes ago. Do not admit."


def test_a_gate_that_is_gone_from_the_snapshot_is_another_gate() -> None:
    assert "at another gate" in decide(an_attempt(history=(entered("18:05", gate=99),))).message


def test_what_was_used_is_said_in_the_houses_own_time() -> None:
    attempt = an_attempt(history=(entered("18:05"),), local_time=lambda moment, now: f"({moment - now})")
    assert decide(attempt).message.startswith("Used (-5100000) at gate A, 85 minutes ago.")


# --- Capacity ---


@pytest.mark.parametrize("inside", [39, 40])
def test_a_deaf_gate_counts_against_its_share_and_says_so(inside: int) -> None:
    floor = ZoneRow(FLOOR, "floor", "ga_standing", capacity=100)
    verdict = decide(an_attempt(zone=floor, zone_room=Room(inside, 40, estimated=True)))
    assert verdict.reason is (Reason.ADMITTED if inside < 40 else Reason.ZONE_FULL)
    assert "capacity_estimated" in verdict.notices


def test_an_estimate_of_a_seated_zone_matters_to_nobody() -> None:
    stalls = ZoneRow(FLOOR, "stalls", "reserved_seating", capacity=100)
    verdict = decide(an_attempt(zone=stalls, zone_room=Room(100, 100, estimated=True)))
    assert (verdict.reason, verdict.notices) == (Reason.ADMITTED, ())


def test_a_zone_keeps_the_name_that_the_house_gave_it() -> None:
    pit = ZoneRow(FLOOR, "Golden Circle", "ga_standing", capacity=1)
    assert decide(an_attempt(zone=pit, zone_room=Room(1, 1))).message.startswith("Zone Golden Circle is full.")


# --- Supervisors ---


def test_the_denial_stays_in_an_overridden_answer() -> None:
    verdict = decide(an_attempt(history=(entered("19:00"),), override=SUPERVISOR))
    assert (verdict.reason, verdict.overridden) == (Reason.ADMITTED_OVERRIDE, Reason.ALREADY_USED)
    assert verdict.message == (
        "Admitted by a supervisor: went to the car. Otherwise refused: Used at 17:00 UTC at gate A, 30 minutes ago."
    )


def test_nothing_is_overridden_where_nothing_was_refused() -> None:
    verdict = decide(an_attempt(override=SUPERVISOR))
    assert (verdict.reason, verdict.overridden, verdict.notices) == (Reason.ADMITTED, None, ())


def test_an_exit_without_an_entry_is_counted_out_by_a_supervisor() -> None:
    verdict = decide(an_attempt(direction=Direction.EXIT, override=SUPERVISOR))
    assert (verdict.reason, verdict.overridden) == (Reason.EXITED, Reason.NOT_INSIDE)
    assert verdict.message.startswith("Exit allowed by a supervisor: went to the car.")


def test_test_mode_knows_no_supervisors() -> None:
    verdict = decide(an_attempt(mode=Mode.TEST, history=(entered("19:00"),), override=SUPERVISOR))
    assert (verdict.reason, verdict.overridden) == (Reason.ALREADY_USED, None)


# --- The clock ---


def test_a_limit_exactly_at_the_edge_of_doubt_does_not_hinge() -> None:
    doubtful = an_attempt(row=a_row(not_before=ms("19:29") // 1000), uncertainty=60_000)
    assert decide(doubtful).notices == ()
    assert decide(structs.replace(doubtful, uncertainty=60_001)).notices == ("clock_uncertain",)


def test_a_window_shorter_than_the_doubt_is_still_seen() -> None:
    short = a_row(not_before=ms("19:31") // 1000, not_after=ms("19:32") // 1000)
    doubtful = an_attempt(row=short, uncertainty=600_000)
    assert decide(doubtful).reason is Reason.ADMITTED
    deny = structs.replace(doubtful, policy=PolicyRow(clock_uncertain=WhenUncertain.DENY))
    assert decide(deny).reason is Reason.NOT_VALID_YET


def test_a_word_of_status_that_this_program_does_not_know_lets_nobody_in() -> None:
    assert decide(an_attempt(event=an_event(status="paused"))).reason is Reason.EVENT_NOT_LIVE


def test_an_event_whose_days_were_cut_refuses_a_ticket_for_the_lost_day() -> None:
    assert decide(an_attempt(row=a_row(valid_days=0b100))).reason is Reason.NOT_VALID_TODAY
    assert decide(an_attempt(event=an_event(days=()))).reason is Reason.ADMITTED
