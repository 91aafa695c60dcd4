"""What the states of an event allow, and how it passes from one to another."""

from __future__ import annotations

import pytest

from shared.errors import Conflict
from shared.lifecycle import (
    ALLOWS,
    TRANSITIONS,
    EventStatus,
    diagram,
    may_become,
    rehearsing,
    require_transition,
    rescheduled_window,
    scanning,
    scanning_limits,
    sells,
    status_at,
)
from shared.reasons import Reason
from tests.unit.shared.attempt_builders import an_event, ms

S = EventStatus
ALLOWED = {
    *[(S.DRAFT, new) for new in (S.PUBLISHED, S.CANCELLED, S.ARCHIVED)],
    *[(S.PUBLISHED, new) for new in (S.DRAFT, S.LIVE, S.POSTPONED, S.CANCELLED)],
    *[(S.LIVE, new) for new in (S.ENDED, S.POSTPONED, S.CANCELLED)],
    *[(S.POSTPONED, new) for new in (S.PUBLISHED, S.LIVE, S.ENDED, S.CANCELLED)],
    *[(S.ENDED, S.ARCHIVED), (S.CANCELLED, S.ARCHIVED)],
}


@pytest.mark.parametrize("old", S)
@pytest.mark.parametrize("new", S)
def test_these_transitions_and_no_others(old: EventStatus, new: EventStatus) -> None:
    assert may_become(old, new) is ((old, new) in ALLOWED)
    if (old, new) in ALLOWED:
        require_transition(old, new)
        return
    with pytest.raises(Conflict) as refused:
        require_transition(old, new)
    assert refused.value.error_code == "invalid_transition"
    assert refused.value.details == {"old": old, "new": new}


def test_a_refused_transition_says_what_would_go() -> None:
    with pytest.raises(Conflict, match=r"live cannot become draft\. It can become: ended, cancelled, postponed"):
        require_transition(S.LIVE, S.DRAFT)
    with pytest.raises(Conflict, match="This status is final"):
        require_transition(S.ARCHIVED, S.LIVE)


def test_every_state_has_its_line_in_both_tables() -> None:
    assert set(TRANSITIONS) == set(ALLOWS) == set(S)


@pytest.mark.parametrize("status", S)
def test_tickets_are_sold_in_three_states_only(status: EventStatus) -> None:
    assert sells(status, ms("20:00"), None, None, ms("12:00")) is (status in {S.PUBLISHED, S.LIVE, S.POSTPONED})


def test_a_postponed_event_sells_only_with_a_new_date() -> None:
    assert not sells(S.POSTPONED, None, None, None, ms("12:00"))
    assert sells(S.POSTPONED, ms("2026-07-11T20:00+02:00"), None, None, ms("12:00"))


@pytest.mark.parametrize(("now", "on_sale"), [("09:59", False), ("10:00", True), ("20:00", True), ("20:01", False)])
def test_the_sale_window_includes_both_its_ends(now: str, on_sale: bool) -> None:
    assert sells(S.PUBLISHED, None, ms("10:00"), ms("20:00"), ms(now)) is on_sale


def test_a_window_open_on_one_side_binds_on_the_other() -> None:
    assert not sells(S.LIVE, None, ms("10:00"), None, ms("09:00"))
    assert not sells(S.LIVE, None, None, ms("10:00"), ms("11:00"))


def test_the_storefront_shows_what_may_still_happen() -> None:
    assert {status for status, allows in ALLOWS.items() if allows.show} == {S.PUBLISHED, S.LIVE, S.POSTPONED}


@pytest.mark.parametrize(
    ("event", "now", "status"),
    [
        (an_event(status="published", go_live_at=ms("19:00")), "18:59", S.PUBLISHED),
        (an_event(status="published", go_live_at=ms("19:00")), "19:00", S.LIVE),
        (an_event(status="published", go_live_at=ms("19:00"), end_at_auto=ms("23:00")), "23:00", S.ENDED),
        (an_event(status="published", end_at_auto=ms("23:00")), "23:30", S.PUBLISHED),
        (an_event(status="live", end_at_auto=ms("23:00")), "22:59", S.LIVE),
        (an_event(status="live", end_at_auto=ms("23:00")), "23:00", S.ENDED),
        (an_event(status="postponed", go_live_at=ms("19:00")), "19:30", S.POSTPONED),
        (an_event(status="postponed", go_live_at=ms("19:00"), rescheduled_at=ms("20:00")), "19:30", S.LIVE),
        (an_event(status="draft", go_live_at=ms("19:00")), "19:30", S.DRAFT),
        (an_event(status="cancelled", go_live_at=ms("19:00")), "19:30", S.CANCELLED),
        (an_event(status="from a newer server"), "19:30", S.DRAFT),
    ],
)
def test_planned_transitions_happen_on_time_though_nobody_writes_them(event: object, now: str, status: S) -> None:
    assert status_at(event, ms(now)) is status


def test_the_rescheduled_window_is_as_long_as_the_event_was() -> None:
    assert rescheduled_window(an_event()) is None
    moved = an_event(rescheduled_at=ms("2026-07-11T20:00+02:00"))
    assert rescheduled_window(moved) == (ms("2026-07-11T20:00+02:00"), ms("2026-07-12T02:00+02:00"))


def test_scanning_changes_its_mind_only_at_the_limits_it_names() -> None:
    event = an_event(status="postponed", rescheduled_at=ms("20:00"), go_live_at=ms("18:00"), end_at_auto=ms("23:00"))
    edges = sorted(scanning_limits(event))
    assert len(edges) == 4
    for edge, following in zip([0, *edges], [*edges, edges[-1] + 10**9], strict=True):
        answers = {scanning(event, moment) for moment in (edge, (edge + following) // 2, following - 1)}
        assert len(answers) == 1


@pytest.mark.parametrize("status", S)
def test_test_scans_go_on_before_and_during_an_event_but_not_after(status: EventStatus) -> None:
    refused = {S.ENDED: Reason.EVENT_ENDED, S.ARCHIVED: Reason.EVENT_ENDED, S.CANCELLED: Reason.EVENT_CANCELLED}
    assert rehearsing(an_event(status=status), ms("19:30")) is refused.get(status)


def test_the_diagram_draws_every_transition_and_nothing_else() -> None:
    drawn = {tuple(line.split(" --> ")) for line in map(str.strip, diagram().splitlines()) if "-->" in line}
    assert drawn == {(str(old), str(new)) for old, new in ALLOWED} | {("[*]", "draft"), ("archived", "[*]")}
