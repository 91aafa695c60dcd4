"""Which alerts an event raises, and since when."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.lifecycle import EventStatus
from sync_server.events.rules import AlertCandidate
from sync_server.monitoring.rules import ALERT_TEXTS, Alert, AlertKind, event_alerts

START, END, MINUTE = 1_000_000, 2_000_000, 60_000
ON_SCHEDULE = AlertCandidate(
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


def kinds(event: AlertCandidate, now: int) -> dict[AlertKind, Alert]:
    return {alert.kind: alert for alert in event_alerts(event, now)}


def test_event_on_schedule_raises_no_alert() -> None:
    assert kinds(ON_SCHEDULE, START - 1) == {}
    assert kinds(replace(ON_SCHEDULE, status=EventStatus.LIVE), END) == {}


def test_published_past_its_start_without_planned_opening() -> None:
    assert kinds(ON_SCHEDULE, START)[AlertKind.NOT_OPEN_PAST_START].since == START
    assert kinds(replace(ON_SCHEDULE, go_live_at=END), START) == {}


def test_doors_without_planned_opening() -> None:
    with_doors = replace(ON_SCHEDULE, doors_at=START - MINUTE)
    assert kinds(with_doors, START - MINUTE - 1) == {}
    assert kinds(with_doors, START - MINUTE)[AlertKind.DOORS_NOT_PLANNED].since == START - MINUTE
    assert set(kinds(with_doors, START)) == {AlertKind.NOT_OPEN_PAST_START}
    assert kinds(replace(with_doors, go_live_at=START), START - MINUTE) == {}


def test_overdue_plan() -> None:
    planned = replace(ON_SCHEDULE, go_live_at=START)
    assert kinds(planned, START + MINUTE) == {}
    assert kinds(planned, START + MINUTE + 1)[AlertKind.PLAN_OVERDUE].since == START
    ending = replace(ON_SCHEDULE, status=EventStatus.LIVE, end_at_auto=END)
    assert set(kinds(ending, END + MINUTE + 1)) == {AlertKind.PLAN_OVERDUE}


def test_live_past_its_end() -> None:
    live = replace(ON_SCHEDULE, status=EventStatus.LIVE)
    assert kinds(live, END + 1)[AlertKind.LIVE_PAST_END].since == END
    assert kinds(replace(live, end_at_auto=END + MINUTE), END + 1) == {}


@pytest.mark.parametrize("status", [EventStatus.CANCELLED, EventStatus.POSTPONED])
def test_tickets_and_holds_of_a_called_off_event(status: EventStatus) -> None:
    off = replace(ON_SCHEDULE, status=status, called_off=True, tickets=12, holds=3, called_off_at=5)
    found = kinds(off, START)
    assert found[AlertKind.TICKETS_CALLED_OFF] == Alert(
        AlertKind.TICKETS_CALLED_OFF, 5, 12, "org", "v1", "e1", "Night Music"
    )
    assert found[AlertKind.HOLDS_CALLED_OFF].count == 3
    assert kinds(replace(off, tickets=0, holds=0), START) == {}
    assert kinds(replace(off, called_off=False), START) == {}  # it has a new date


def test_contradictory_times_date_from_the_last_change() -> None:
    assert kinds(replace(ON_SCHEDULE, times_fit=False), START - 1)[AlertKind.TIMES_IN_WRONG_ORDER].since == 7


@pytest.mark.parametrize("kind", list(AlertKind))
def test_every_kind_has_its_texts(kind: AlertKind) -> None:
    assert all(len(text) > 20 for text in ALERT_TEXTS[kind])
