"""Scans reconciled on the server: who was right, and what is a conflict."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from shared.admission import Direction, Room
from shared.claims import Entitlement
from shared.reasons import Reason
from shared.wire.rows import TicketState
from sync_server.scans.reconcile import ConflictKind, Reconciliation, reconcile
from tests.unit.shared.wire_builders import EIGHT, a_ticket_row
from tests.unit.sync_server.scans.server_history import MINUTE, ServerHistory, a_scan, kinds, past_of

# --- Who was right ---


def test_one_ticket_scanned_once_is_no_conflict() -> None:
    scan = a_scan()
    outcome = reconcile([scan], ServerHistory())
    assert outcome.rightful is scan
    assert outcome.conflicts == ()
    (judged,) = outcome.outcomes
    assert (judged.gate_right, judged.guest_right) == (True, True)
    assert [passage.zone for passage in outcome.history] == [1]


def test_two_gates_without_a_network_admit_the_same_ticket() -> None:
    first, second = a_scan(0), a_scan(3, device=5)
    outcome = reconcile([second, first], ServerHistory())
    assert outcome.rightful is first
    (conflict,) = outcome.conflicts
    assert (conflict.kind, conflict.reason) == (ConflictKind.DUPLICATE, Reason.ALREADY_USED)
    assert (conflict.of, conflict.against, conflict.order_unsure) == (second, first, False)


def test_corrected_times_decide_who_was_first_and_not_the_clocks_of_the_gates() -> None:
    early_by_its_own_clock = a_scan(5, device=5, wall=EIGHT - 90 * MINUTE)
    outcome = reconcile([early_by_its_own_clock, a_scan(0)], ServerHistory())
    assert outcome.rightful == a_scan(0)


def test_overlapping_uncertainties_leave_the_order_unsure() -> None:
    near, far = a_scan(0, uncertainty=40_000), a_scan(1, device=5, uncertainty=20_000)
    assert reconcile([near, far], ServerHistory()).conflicts[0].order_unsure
    assert not reconcile([replace(near, uncertainty=39_999), far], ServerHistory()).conflicts[0].order_unsure


def test_within_one_journal_the_sequence_is_sure_whatever_the_clock() -> None:
    scans = [a_scan(0, uncertainty=2**42), a_scan(1, uncertainty=2**42)]
    assert not reconcile(scans, ServerHistory()).conflicts[0].order_unsure


def test_equal_times_are_ordered_by_device() -> None:
    outcome = reconcile([a_scan(0, device=9), a_scan(0, device=3)], ServerHistory())
    assert outcome.rightful is not None
    assert outcome.rightful.entry.device == 3
    assert outcome.conflicts[0].order_unsure


# --- Duplicates ---


def test_a_duplicate_does_not_affect_later_scans_but_counts_as_inside() -> None:
    past = ServerHistory([(0, a_ticket_row(entitlement=Entitlement.GA_STANDING))])
    walked_out = {"direction": "exit", "reason": "exited"}
    scans = [a_scan(0), a_scan(1, device=5), a_scan(10, **walked_out), a_scan(20, device=5, reason="admitted_reentry")]
    outcome = reconcile(scans, past)
    assert [(one.kind, one.of) for one in outcome.conflicts] == [(ConflictKind.DUPLICATE, scans[1])]
    assert outcome.conflicts[0].reason == Reason.ALREADY_INSIDE
    assert [passage.at for passage in outcome.history] == [scans[0].at, scans[2].at, scans[3].at]
    assert len(outcome.counted) == 4


def test_three_entries_on_a_ticket_for_two_a_day() -> None:
    past = ServerHistory([(0, a_ticket_row(entitlement=Entitlement.LIMITED_REENTRY_PER_DAY, limit=2))])
    outcome = reconcile([a_scan(minute, device=minute + 3) for minute in range(3)], past)
    assert [(one.reason, one.of.entry.device) for one in outcome.conflicts] == [(Reason.DAILY_LIMIT_REACHED, 5)]


def test_an_annulled_entry_does_not_count() -> None:
    sent_back = a_scan(0)
    annulment = a_scan(1, kind="annulment", admitted=False, reason="", details={"annuls": [4, 1, sent_back.entry.seq]})
    later = a_scan(2, device=5)
    outcome = reconcile([sent_back, annulment, later], ServerHistory())
    assert (outcome.rightful, outcome.conflicts) == (later, ())
    assert [passage.device for passage in outcome.counted] == [5]


def test_an_annulment_in_quarantine_annuls_nothing() -> None:
    annulment = a_scan(
        1, kind="annulment", admitted=False, reason="", details={"annuls": [4, 1, 1]}, quarantined=True, device=6
    )
    assert reconcile([a_scan(0), annulment], ServerHistory()).rightful == a_scan(0)


# --- Dead tickets ---


def a_ticket_cancelled_at(moment: int) -> ServerHistory:
    return past_of(a_ticket_row(), a_ticket_row(state=TicketState.CANCELLED), since=(0, moment))


def test_a_gate_that_had_not_heard_of_the_cancellation_was_right_and_the_guest_was_not() -> None:
    outcome = reconcile([a_scan(10)], a_ticket_cancelled_at(EIGHT + 5 * MINUTE))
    (judged,) = outcome.outcomes
    assert (judged.gate_right, judged.guest_right) == (True, False)
    (conflict,) = outcome.conflicts
    assert (conflict.kind, conflict.reason) == (ConflictKind.ADMITTED_THOUGH_DEAD, Reason.TICKET_CANCELLED)
    assert not conflict.order_unsure
    assert outcome.rightful is None


def test_a_gate_that_knew_and_admitted_all_the_same_was_wrong() -> None:
    outcome = reconcile([a_scan(10, revision=2)], a_ticket_cancelled_at(EIGHT))
    assert outcome.outcomes[0].gate_right is False


def test_a_cancellation_within_the_uncertainty_leaves_the_order_unsure() -> None:
    past = a_ticket_cancelled_at(EIGHT + 10 * MINUTE - 50)
    assert reconcile([a_scan(10, uncertainty=100)], past).conflicts[0].order_unsure
    assert not reconcile([a_scan(10, uncertainty=49)], past).conflicts[0].order_unsure


def test_cancelled_after_the_entry_is_no_conflict() -> None:
    assert reconcile([a_scan(10)], a_ticket_cancelled_at(EIGHT + 11 * MINUTE)).conflicts == ()


def test_an_old_issue_after_a_transfer_is_dead() -> None:
    past = past_of(a_ticket_row(issue=1), a_ticket_row(issue=2), since=(0, EIGHT))
    outcome = reconcile([a_scan(5, issue=1), a_scan(9, issue=2, revision=2)], past)
    assert [(one.kind, one.reason) for one in outcome.conflicts] == [
        (ConflictKind.ADMITTED_THOUGH_DEAD, Reason.TICKET_REPLACED),
        (ConflictKind.DUPLICATE, Reason.ALREADY_USED),
    ]


# --- Tickets that nobody issued ---


def test_a_good_signature_on_a_ticket_that_was_never_issued_is_an_alarm() -> None:
    assert kinds(reconcile([a_scan()], ServerHistory([]))) == [ConflictKind.NEVER_ISSUED]


@pytest.mark.parametrize(
    "different",
    [
        {"admitted": False, "reason": "not_in_snapshot"},
        {"mode": "test", "reason": "test_ok"},
        {"quarantined": True},
    ],
)
def test_it_is_an_alarm_even_without_an_admission(different: dict[str, Any]) -> None:
    assert kinds(reconcile([a_scan(**different)], ServerHistory([]))) == [ConflictKind.NEVER_ISSUED]


@pytest.mark.parametrize("reason", ["unreadable", "bad_signature", "unknown_key", "wrong_event", "gate_not_ready"])
def test_a_code_that_was_not_verified_is_ignored(reason: str) -> None:
    assert reconcile([a_scan(admitted=False, reason=reason)], ServerHistory([])) == Reconciliation()


def test_a_ticket_sold_after_the_last_sync_is_no_alarm_and_the_gate_was_right() -> None:
    past = past_of(None, a_ticket_row(), since=(EIGHT - 60 * MINUTE, EIGHT - MINUTE))
    outcome = reconcile([a_scan(5)], past)
    assert outcome.conflicts == ()
    assert outcome.outcomes[0].gate_right is True


def test_a_clock_before_the_sale_is_no_alarm() -> None:
    past = past_of(None, a_ticket_row(), since=(0, EIGHT + MINUTE))
    outcome = reconcile([a_scan(0, revision=2)], past)
    assert (outcome.conflicts, outcome.rightful) == ((), a_scan(0, revision=2))


def test_who_claims_a_ticket_without_having_seen_its_code_takes_nothing_from_its_holder() -> None:
    past = ServerHistory(code_hash=bytes(range(16)))
    thief, holder = a_scan(0, device=6, code_hash=b"x" * 16), a_scan(5)
    outcome = reconcile([thief, holder], past)
    assert [(one.kind, one.of) for one in outcome.conflicts] == [(ConflictKind.FORGED_CODE, thief)]
    assert outcome.rightful == holder
    assert len(outcome.counted) == 1


# --- Crowds, copies and revoked machines ---


def test_one_more_than_the_zone_holds() -> None:
    assert kinds(reconcile([a_scan()], ServerHistory(zone_room=Room(100, 100)))) == [ConflictKind.OVER_CAPACITY]
    assert kinds(reconcile([a_scan()], ServerHistory(zone_room=Room(99, 100)))) == []


def test_a_copied_card_shows_as_a_fork_on_both_sides() -> None:
    scans = [a_scan(0), replace(a_scan(0, gate=3), at=EIGHT + MINUTE)]
    outcome = reconcile(scans, ServerHistory())
    assert kinds(outcome) == [ConflictKind.FORK, ConflictKind.FORK, ConflictKind.DUPLICATE]
    assert all(conflict.of.fork for conflict in outcome.conflicts)


def test_a_fork_whose_twin_is_another_ticket_counts_but_is_flagged() -> None:
    outcome = reconcile([a_scan(fork=True)], ServerHistory())
    assert kinds(outcome) == [ConflictKind.FORK]
    assert outcome.rightful == a_scan(fork=True)


def test_late_entries_of_a_revoked_device_refuse_nobody_until_somebody_accepts_them() -> None:
    late, honest = a_scan(0, device=6, quarantined=True), a_scan(5)
    outcome = reconcile([late, honest], ServerHistory())
    assert kinds(outcome) == [ConflictKind.REVOKED_DEVICE]
    assert outcome.rightful == honest
    assert [passage.device for passage in outcome.counted] == [4]

    accepted = reconcile([replace(late, quarantined=False, revoked=True), honest], ServerHistory())
    assert kinds(accepted) == [ConflictKind.REVOKED_DEVICE, ConflictKind.DUPLICATE]


# --- Refusals ---


def test_a_wrongly_refused_guest_is_reported_but_not_counted() -> None:
    sent_away = a_scan(0, admitted=False, reason="ticket_cancelled", revision=2)
    past = ServerHistory([(0, a_ticket_row()), (EIGHT + 9 * MINUTE, a_ticket_row(state=TicketState.CANCELLED))])
    outcome = reconcile([sent_away], past)
    assert kinds(outcome) == [ConflictKind.REFUSED_THOUGH_RIGHT]
    assert (outcome.history, outcome.rightful) == ((), None)
    assert outcome.outcomes[0].gate_right is True  # by the rows it held


def test_a_refusal_that_was_right_is_no_conflict() -> None:
    outcome = reconcile([a_scan(0), a_scan(2, device=5, admitted=False, reason="already_used")], ServerHistory())
    assert outcome.conflicts == ()
    assert [one.gate_right for one in outcome.outcomes] == [True, True]


def test_a_refusal_for_a_full_zone_without_counts_is_no_conflict() -> None:
    refused = a_scan(0, admitted=False, reason="zone_full")
    assert kinds(reconcile([refused], ServerHistory())) == []
    assert kinds(reconcile([refused], ServerHistory(zone_room=Room(3, 100)))) == [ConflictKind.REFUSED_THOUGH_RIGHT]


# --- Supervisors ---


OVERRIDDEN = {"reason": "admitted_override", "override_by": 9, "override_reason": "lost his friends"}


def test_what_a_supervisor_knowingly_overrode_is_no_conflict() -> None:
    outcome = reconcile([a_scan(0), a_scan(2, device=5, override_denial="already_used", **OVERRIDDEN)], ServerHistory())
    assert outcome.conflicts == ()
    assert len(outcome.history) == 2


def test_what_the_supervisor_could_not_know_is_one() -> None:
    outcome = reconcile([a_scan(0), a_scan(2, device=5, override_denial="wrong_gate", **OVERRIDDEN)], ServerHistory())
    assert [(one.kind, one.reason) for one in outcome.conflicts] == [(ConflictKind.DUPLICATE, Reason.ALREADY_USED)]


# --- Odds and ends ---


def test_an_unknown_position_leaves_open_whether_the_gate_was_right() -> None:
    (judged,) = reconcile([a_scan(revision=77)], ServerHistory()).outcomes
    assert (judged.gate_right, judged.gate_reason, judged.guest_right) == (None, None, True)


def test_an_exit_without_an_entry_is_no_conflict_and_counts() -> None:
    outcome = reconcile([a_scan(0, direction="exit", reason="exited")], ServerHistory())
    assert outcome.conflicts == ()
    assert outcome.outcomes[0].guest_reason == Reason.NOT_INSIDE
    assert [passage.direction for passage in outcome.counted] == [Direction.EXIT]


@pytest.mark.parametrize(
    "different",
    [{"mode": "test", "reason": "test_ok"}, {"mode": "dream"}, {"direction": "sideways"}, {"kind": "hologram"}],
)
def test_test_scans_and_unknown_kinds_are_ignored(different: dict[str, Any]) -> None:
    outcome = reconcile([a_scan(0, device=6, **different), a_scan(5)], ServerHistory())
    assert (outcome.rightful, outcome.conflicts) == (a_scan(5), ())


def test_no_entries_give_an_empty_result() -> None:
    assert reconcile([], ServerHistory()) == Reconciliation()
