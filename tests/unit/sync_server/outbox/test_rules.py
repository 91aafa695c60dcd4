"""Names, streams and pauses of facts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync_server.outbox.catalogue import routing_key
from sync_server.outbox.notifications import bus_notes
from sync_server.outbox.rules import DEAD_AFTER, LONGEST_PAUSE_MS, is_dead, pause, stream_of
from sync_server.plumbing.jobs import Message

HOUR_MS = 3_600_000


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("event_published", "event.published"),
        ("event_cancelled", "event.canceled"),
        ("event_updated", "event.updated"),
        ("ticket_cancelled", "ticket.cancelled"),
        ("journal_moved_back", "journal.moved_back"),
    ],
)
def test_partners_know_facts_by_these_keys(name: str, key: str) -> None:
    assert routing_key(name) == key


def test_a_ticket_its_event_and_its_scans_share_a_stream() -> None:
    ticket = stream_of({"ticket": "a", "event": "e", "event_number": 7}, "org")
    assert ticket == stream_of({"event": "e", "event_number": 7}, "org") == stream_of({"event_number": 7}, "org")


def test_facts_without_an_event_have_streams_of_their_own() -> None:
    assert stream_of({"device": "d1"}, "org") != stream_of({"device": "d2"}, "org")
    assert stream_of({}, "org") != stream_of({}, "another")


@given(st.integers(1, 100), st.floats(0, 1, exclude_max=True))
def test_pauses_grow_to_a_limit_and_are_never_zero(attempts: int, jitter: float) -> None:
    assert 0 < pause(attempts, jitter) <= LONGEST_PAUSE_MS
    assert pause(attempts, 0) <= pause(attempts + 1, 0)


def test_a_fact_is_tried_for_more_than_an_hour_before_it_is_given_up() -> None:
    assert not is_dead(DEAD_AFTER - 1) and is_dead(DEAD_AFTER)
    assert sum(pause(attempt, 0) for attempt in range(1, DEAD_AFTER)) > HOUR_MS


def topics(name: str, **subjects: object) -> list[str]:
    return [note.topic for note in bus_notes(Message("m", name, "org", 0, subjects, {}, 1))]


def test_each_fact_is_published_to_the_topics_it_concerns() -> None:
    event = {"event": "e", "event_number": 7}
    assert topics("event_postponed", **event) == ["events:event:e", "events:org:org"]
    assert topics("tickets_issued", **event) == ["events:event:e"]
    assert topics("scans_arrived", event_number=7) == ["occupancy:org:7"]
    assert topics("house_emptied", **event) == ["events:event:e", "events:org:org", "occupancy:org:7"]
    assert topics("device_enrolled", device="d") == []


def test_a_status_change_has_old_and_new_status() -> None:
    payload = {"before": {"status": "live"}, "after": {"status": "postponed", "rescheduled_at": 5}}
    [note, _] = bus_notes(Message("m", "event_postponed", "org", 0, {"event": "e"}, payload, 1))
    assert (note.body["old_status"], note.body["new_status"], note.body["rescheduled_at"]) == ("live", "postponed", 5)
