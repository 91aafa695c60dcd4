"""When somebody must look at an event, and since when."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.lifecycle import EventStatus
from sync_server.watch.rules import WORDS, Alert, EventState, Kind, of_event

START, END, MINUTE = 1_000_000, 2_000_000, 60_000
QUIET = EventState(
    "e1",
    "org",
    "v1",
    "Night Music",
    EventStatus.PUBLISHED,
    START,
    END,
    None,
    None,
    None,
    None,
    times_fit=True,
    changed_at=7,
)


def kinds(event: EventState, now: int) -> dict[Kind, Alert]:
    return {alert.kind: alert for alert in of_event(event, now)}


def test_an_event_that_goes_as_planned_asks_for_nothing() -> None:
    assert kinds(QUIET, START - 1) == {}
    assert kinds(replace(QUIET, status=EventStatus.LIVE), END) == {}


def test_published_past_its_start_without_a_plan() -> None:
    assert kinds(QUIET, START)[Kind.NOT_OPEN_PAST_START].since == START
    assert kinds(replace(QUIET, go_live_at=END), START) == {}


def test_doors_that_should_be_open_and_have_no_planned_opening() -> None:
    with_doors = replace(QUIET, doors_at=START - MINUTE)
    assert kinds(with_doors, START - MINUTE - 1) == {}
    assert kinds(with_doors, START - MINUTE)[Kind.DOORS_NOT_PLANNED].since == START - MINUTE
    assert set(kinds(with_doors, START)) == {Kind.NOT_OPEN_PAST_START}
    assert kinds(replace(with_doors, go_live_at=START), START - MINUTE) == {}


def test_a_plan_that_nobody_carries_out() -> None:
    planned = replace(QUIET, go_live_at=START)
    assert kinds(planned, START + MINUTE) == {}
    assert kinds(planned, START + MINUTE + 1)[Kind.PLAN_NOT_CARRIED_OUT].since == START
    ending = replace(QUIET, status=EventStatus.LIVE, end_at_auto=END)
    assert set(kinds(ending, END + MINUTE + 1)) == {Kind.PLAN_NOT_CARRIED_OUT}


def test_live_past_its_end() -> None:
    live = replace(QUIET, status=EventStatus.LIVE)
    assert kinds(live, END + 1)[Kind.LIVE_PAST_END].since == END
    assert kinds(replace(live, end_at_auto=END + MINUTE), END + 1) == {}


@pytest.mark.parametrize("status", [EventStatus.CANCELLED, EventStatus.POSTPONED])
def test_tickets_and_holds_of_an_event_that_is_called_off(status: EventStatus) -> None:
    off = replace(QUIET, status=status, tickets=12, holds=3, called_off_at=5)
    found = kinds(off, START)
    assert found[Kind.TICKETS_CALLED_OFF] == Alert(Kind.TICKETS_CALLED_OFF, 5, 12, "org", "v1", "e1", "Night Music")
    assert found[Kind.HOLDS_CALLED_OFF].count == 3
    assert kinds(replace(off, tickets=0, holds=0), START) == {}


def test_times_that_contradict_each_other_count_since_the_last_change() -> None:
    assert kinds(replace(QUIET, times_fit=False), START - 1)[Kind.TIMES_IN_WRONG_ORDER].since == 7


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_says_what_it_means_and_what_to_do(kind: Kind) -> None:
    assert all(len(words) > 20 for words in WORDS[kind])
