"""Which notification becomes which frame, and what the public does not get."""

from __future__ import annotations

from typing import Any

from sync_server.live.frames import frames_of_notes, public_frames
from sync_server.outbox.notifications import change_notice
from sync_server.plumbing.jobs import Message
from sync_server.plumbing.messaging.bus import Notification, event_topic, occupancy_topic

HELD = {
    "event": "seat_held",
    "seat_id": "s-1",
    "hold_id": "h-1",
    "event_id": "e1",
    "total": 10,
    "available": 9,
    "held": 1,
    "sold": 0,
    "percent_available": 90,
    "percent_held": 10,
    "timestamp": "2026-07-04T16:00:00Z",
}


def fact(name: str = "event_cancelled", **payload: Any) -> Notification:
    body = {"before": {"status": "live"}, "after": {"status": "cancelled"}} | payload
    subjects = {"event": "e1", "event_number": 7}
    return Notification(event_topic("e1"), change_notice(Message("m1", name, "org", 1, subjects, body, 1, order=12)))


def test_status_change_becomes_a_status_frame() -> None:
    (frame,) = frames_of_notes([fact()])
    assert (frame.name, frame.order) == ("status", 12)
    assert (
        frame.payload.items()
        >= {
            "event_id": "e1",
            "old_status": "live",
            "new_status": "cancelled",
            "rescheduled_at": None,
            "replaced_by_event_id": None,
        }.items()
    )


def test_other_facts_keep_their_names() -> None:
    (frame,) = frames_of_notes([fact("event_updated", before={"name": "A"}, after={"name": "B"})])
    assert (frame.name, frame.payload["new_status"]) == ("event_updated", None)


def test_seat_changes_have_no_order_and_are_not_replayed() -> None:
    (frame,) = frames_of_notes([Notification(occupancy_topic("org", 7), HELD)])
    assert (frame.name, frame.order, frame.payload["hold_id"]) == ("occupancy", None, "h-1")


def test_scans_make_no_frames() -> None:
    assert list(frames_of_notes([Notification(occupancy_topic("org", 7), {"fact": "scans_arrived"})])) == []


def test_public_frames_have_counts_but_no_seats_or_holders() -> None:
    seats, status = public_frames(
        [Notification(occupancy_topic("org", 7), HELD), fact(), fact("ticket_blocked", after={})], "e1"
    )
    assert seats.payload == {
        "event_id": "e1",
        "mark": None,
        "total": 10,
        "available": 9,
        "taken": 1,
        "percent_available": 90.0,
        "percent_taken": 10.0,
    }
    assert (status.name, status.order) == ("status", None)
    assert "message_id" not in status.payload


def test_event_without_a_capacity_has_no_public_counts() -> None:
    unlimited = HELD | {"total": 0, "available": 0}
    assert list(public_frames([Notification(occupancy_topic("org", 7), unlimited)], "e1")) == []
