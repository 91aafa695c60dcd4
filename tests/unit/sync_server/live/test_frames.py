"""Which news becomes which frame, and what strangers are not told."""

from __future__ import annotations

from typing import Any

from sync_server.live.frames import for_anybody, of_notes
from sync_server.outbox.announcing import news
from sync_server.plumbing.bus import Note, of_event, of_occupancy
from sync_server.plumbing.work import Message

HELD = {
    "event": "seat_held",
    "seat_id": "s-1",
    "hold_id": "h-1",
    "event_id": "e1",
    "total_available": 9,
    "total_held": 1,
    "total_sold": 0,
    "percent_available": 90,
    "percent_held": 10,
    "timestamp": "2026-07-04T16:00:00Z",
}


def fact(name: str = "event_cancelled", **payload: Any) -> Note:
    told = {"before": {"status": "live"}, "after": {"status": "cancelled"}} | payload
    subjects = {"event": "e1", "event_number": 7}
    return Note(of_event("e1"), news(Message("m1", name, "org", 1, subjects, told, 1, order=12)))


def test_a_step_in_an_events_life_is_a_status_with_the_payload_that_was_promised() -> None:
    (frame,) = of_notes([fact()])
    assert (frame.name, frame.order) == ("status", 12)
    assert (
        frame.told.items()
        >= {
            "event_id": "e1",
            "old_status": "live",
            "new_status": "cancelled",
            "rescheduled_at": None,
            "replaced_by_event_id": None,
        }.items()
    )


def test_every_other_fact_comes_under_its_own_name() -> None:
    (frame,) = of_notes([fact("event_updated", before={"name": "A"}, after={"name": "B"})])
    assert (frame.name, frame.told["new_status"]) == ("event_updated", None)


def test_seats_are_told_as_they_are_and_cannot_be_asked_for_again() -> None:
    (frame,) = of_notes([Note(of_occupancy("org", 7), HELD)])
    assert (frame.name, frame.order, frame.told["hold_id"]) == ("occupancy", None, "h-1")


def test_scans_tell_nothing_but_that_the_numbers_change() -> None:
    assert list(of_notes([Note(of_occupancy("org", 7), {"fact": "scans_arrived"})])) == []


def test_strangers_learn_how_many_and_never_which_or_whose() -> None:
    seats, status = for_anybody([Note(of_occupancy("org", 7), HELD), fact(), fact("ticket_blocked", after={})], "e1")
    assert seats.told == {
        "event_id": "e1",
        "total_available": 9,
        "total_held": 1,
        "total_sold": 0,
        "percent_available": 90,
        "percent_held": 10,
    }
    assert (status.name, status.order) == ("status", None)
    assert "message_id" not in status.told


def test_an_event_without_a_bound_is_never_told_to_be_full() -> None:
    endless = HELD | {"total": 0, "total_available": 0}
    assert list(for_anybody([Note(of_occupancy("org", 7), endless)], "e1")) == []
