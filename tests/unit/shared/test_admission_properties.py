"""Properties of every decision."""

from __future__ import annotations

import string
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from shared.admission import Attempt, Direction, Mode, Override, Passage, Readiness, Room, decide
from shared.lifecycle import EventStatus
from shared.movements import passages
from shared.reasons import ADMITTING, Reason
from shared.tickets import Entitlement, Refusal, TicketFlags
from shared.wire.snapshot import (
    GateRow,
    MembershipState,
    Movement,
    MovementKind,
    PolicyRow,
    TicketState,
    WhenUncertain,
    ZoneRow,
)
from tests.unit.shared.attempt_builders import (
    FLOOR,
    GATE_A,
    TICKET,
    a_code,
    a_row,
    a_ticket,
    an_attempt,
    an_event,
    entered,
    ms,
)

NOON = ms("12:00")
moments = st.one_of(
    st.integers(NOON - 3 * 86_400_000, NOON + 3 * 86_400_000), st.sampled_from([0, ms("19:30"), 1 << 55, -(1 << 55)])
)
maybe_moments = st.none() | moments
seconds = st.just(0) | st.integers(NOON // 1000 - 90_000, NOON // 1000 + 90_000)
small = st.integers(0, 5)
histories = st.lists(
    st.builds(Passage, moments, small, small, st.integers(1, 50), st.sampled_from(Direction), small, small), max_size=6
).map(tuple)
flags = st.integers(0, 127).map(TicketFlags)
terms = {
    "issue": st.integers(1, 4),
    "zone": small,
    "valid_days": st.integers(-1, 7),
    "entitlement": st.sampled_from(Entitlement),
    "limit": st.integers(-1, 5),
    "flags": flags,
    "not_before": seconds,
    "not_after": seconds,
}
tickets = st.fixed_dictionaries({**terms, "issued_at": seconds}).map(lambda fields: a_ticket(**fields))
rows = st.fixed_dictionaries(
    {
        **terms,
        "state": st.sampled_from(TicketState),
        "membership_tier": st.sampled_from(["", "gold", "silver"]),
        "membership_state": st.sampled_from(MembershipState),
        "membership_until": st.just(0) | moments,
    }
).map(lambda fields: a_row(**fields))
events = st.fixed_dictionaries(
    {
        "status": st.sampled_from([*EventStatus, "paused"]),
        "rescheduled_at": maybe_moments,
        "go_live_at": maybe_moments,
        "end_at_auto": maybe_moments,
        "counts_from": maybe_moments,
        "anti_passback": st.booleans(),
        "cutover_empties": st.booleans(),
        "days": st.just(()) | st.just(an_event().days),
    }
).map(lambda fields: an_event(**fields))
codes = st.one_of(
    st.builds(lambda ticket, distrusted: a_code(ticket=ticket, key_distrusted=distrusted), tickets, st.booleans()),
    st.sampled_from([Refusal(Reason.UNREADABLE), Refusal(Reason.BAD_SIGNATURE), Refusal(Reason.STALE_PROOF)]),
)
rooms = st.none() | st.builds(Room, small, small, st.booleans())
gates = st.builds(
    GateRow,
    small,
    st.just("A"),
    st.just("A"),
    st.booleans(),
    st.lists(small, max_size=2).map(tuple),
    st.none() | small,
    st.booleans(),
)
attempts = st.builds(
    Attempt,
    now=moments,
    direction=st.sampled_from(Direction),
    mode=st.sampled_from(Mode),
    code=codes,
    organisation=st.sampled_from(["the house", "another"]),
    event=st.none() | events,
    gate=st.none() | gates,
    zone=st.none()
    | st.builds(
        ZoneRow,
        small,
        st.just("z"),
        st.sampled_from(["ga_standing", "ga_seated", "reserved_seating"]),
        st.none() | small,
        st.none() | st.sampled_from(["gold"]),
    ),
    row=st.none() | rows,
    ticket_type=st.none(),
    history=histories,
    policy=st.builds(
        PolicyRow, st.just(0), st.booleans(), st.none() | st.integers(0, 10**9), st.sampled_from(WhenUncertain)
    ),
    snapshot_as_of=moments,
    uncertainty=st.just(0) | st.integers(0, 86_400_000),
    highest_issue_seen=small,
    readiness=st.builds(Readiness, ready=st.booleans() | st.just(True), can_record=st.booleans() | st.just(True)),
    zone_room=rooms,
    gate_room=rooms,
    gates=st.lists(gates, max_size=3).map(tuple),
    override=st.none() | st.builds(Override, small, st.text(string.ascii_letters, max_size=5)),
    doors_opened=st.booleans(),
    gate_opened=st.booleans(),
)


@settings(max_examples=400)
@given(attempts)
def test_every_attempt_has_one_answer_and_words_for_it(attempt: Attempt) -> None:
    verdict = decide(attempt)
    assert verdict == decide(structs.replace(attempt))
    assert verdict.message.strip()
    assert verdict.admitted is (verdict.reason in ADMITTING)
    assert all(verdict.notices)
    assert len(set(verdict.notices)) == len(verdict.notices)


@settings(max_examples=300)
@given(attempts)
def test_what_test_mode_answers_is_test_ok_or_the_denial_of_the_same_rows(attempt: Attempt) -> None:
    tested = decide(structs.replace(attempt, mode=Mode.TEST))
    assert tested.reason not in ADMITTING - {Reason.TEST_OK}
    assert tested.overridden is None
    assert "override" not in tested.notices
    real = decide(structs.replace(attempt, mode=Mode.REAL, override=None, doors_opened=False))
    if not tested.admitted and tested.reason not in {Reason.EVENT_ENDED, Reason.EVENT_CANCELLED}:
        # Row 5 is the only one that asks for the mode.
        row_5 = {Reason.EVENT_NOT_LIVE, Reason.EVENT_POSTPONED, Reason.EVENT_ENDED}
        assert real.reason == tested.reason or real.reason in row_5


@settings(max_examples=300)
@given(attempts)
def test_nobody_overrides_rows_0_to_4_and_an_override_never_refuses(attempt: Attempt) -> None:
    real = structs.replace(attempt, mode=Mode.REAL)
    plain = decide(structs.replace(real, override=None))
    turned = decide(structs.replace(real, override=Override(1, "because")))
    if plain.admitted or list(Reason).index(plain.reason) <= list(Reason).index(Reason.WRONG_EVENT):
        assert turned == plain
    else:
        assert (turned.admitted, turned.overridden) == (True, plain.reason)


@settings(max_examples=300)
@given(attempts)
def test_an_exit_is_refused_by_rows_0_to_4_or_for_not_being_inside(attempt: Attempt) -> None:
    verdict = decide(structs.replace(attempt, direction=Direction.EXIT, mode=Mode.REAL))
    found = list(Reason).index(verdict.reason)
    assert found <= list(Reason).index(Reason.WRONG_EVENT) or verdict.reason in {Reason.NOT_INSIDE, Reason.EXITED}


@settings(max_examples=200)
@given(attempts, st.randoms(use_true_random=False))
def test_the_order_in_which_history_was_heard_changes_nothing(attempt: Attempt, shuffler: Random) -> None:
    distinct = {(one.device, one.branch, one.seq): one for one in attempt.history}
    fields = list(distinct.values())
    once = decide(structs.replace(attempt, history=tuple(fields)))
    shuffler.shuffle(fields)
    assert decide(structs.replace(attempt, history=tuple(fields))) == once


# --- The order of the rows: whatever else is wrong as well, the first row answers ---

WRONGS: tuple[tuple[Reason, dict[str, object]], ...] = (
    (Reason.GATE_NOT_READY, {"ready": False}),
    (Reason.CANNOT_RECORD, {"can_record": False}),
    (Reason.WRONG_ORGANISATION, {"organisation": "another"}),
    (Reason.WRONG_EVENT, {"event.number": 8}),
    (Reason.EVENT_CANCELLED, {"event.status": "cancelled"}),
    (Reason.GATE_CLOSED, {"gate.open": False}),
    (Reason.WRONG_GATE, {"gate.zones": (9,)}),
    (Reason.TICKET_REPLACED, {"highest_issue_seen": 2}),
    (Reason.TICKET_BLOCKED, {"row.state": TicketState.BLOCKED}),
    (Reason.NOT_VALID_YET, {"row.not_before": ms("23:00") // 1000}),
    (Reason.NO_LONGER_VALID, {"row.not_after": ms("19:00") // 1000}),
    (Reason.MEMBERSHIP_EXPIRED, {"zone.membership_tier": "gold"}),
    (Reason.ALREADY_USED, {"history": (entered("19:00"),)}),
    (Reason.ZONE_FULL, {"zone.capacity": 1, "zone_room": Room(1, 1)}),
    (Reason.GATE_FULL, {"gate.capacity": 1, "gate_room": Room(1, 1)}),
)


def _wronged(wrongs: tuple[dict[str, object], ...]) -> Attempt:
    attempt = an_attempt()
    parts = {"event": attempt.event, "gate": attempt.gate, "row": attempt.row, "zone": attempt.zone}
    readiness, plain = Readiness(), {}
    for path, value in [change for wrong in wrongs for change in wrong.items()]:
        part, _, field = path.partition(".")
        if field:
            parts[part] = replace(parts[part], **{field: value})  # all are rows
        elif path in {"ready", "can_record"}:
            readiness = structs.replace(readiness, **{path: value})
        else:
            plain[path] = value
    return structs.replace(attempt, **parts, **plain, readiness=readiness)


@pytest.mark.parametrize("how_many", [1, 2, 3, 4])
def test_the_first_row_wins_whatever_else_is_wrong(how_many: int) -> None:
    for chosen in combinations(WRONGS, how_many):
        verdict = decide(_wronged(tuple(wrong for _, wrong in chosen)))
        assert verdict.reason is chosen[0][0], [reason for reason, _ in chosen]


# --- What never counts ---


def _movements(entries: list[tuple[int, bool]], annulled: bool) -> list[Movement]:
    made = []
    for seq, (at, leaves) in enumerate(entries, 1):
        kind = MovementKind.EXIT if leaves else MovementKind.ENTRY
        made.append(Movement(3, 0, seq, kind, TICKET, 1, b"c" * 16, at, GATE_A.number, FLOOR))
        if annulled:
            made.append(structs.replace(made[-1], seq=seq + 1000, kind=MovementKind.ANNULMENT, annuls=(3, 0, seq)))
    return made


@given(
    st.lists(st.tuples(moments, st.booleans()), max_size=5), st.sampled_from(Entitlement), st.sampled_from(Direction)
)
def test_annulled_movements_are_as_if_they_had_never_been(
    entries: list[tuple[int, bool]], entitlement: Entitlement, direction: Direction
) -> None:
    attempt = an_attempt(row=a_row(entitlement=entitlement), direction=direction)
    history = passages(_movements(entries, annulled=True), b"c" * 16, 1).passages
    assert decide(structs.replace(attempt, history=history)) == decide(attempt)
