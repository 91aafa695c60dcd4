"""Streams of a real server: changes are told, what was missed is told again, who is shut out hears nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pytest

from sync_server.outbox import past
from sync_server.plumbing.bus import of_occupancy
from sync_server.plumbing.streams import streams
from tests.builders import an_event
from tests.office import Desk, Evening, Office, an_evening

QUIET = ": heartbeat"
MOST_QUIET = 10
MOST_FRAMES = 40


@dataclass
class Told:
    """One frame as a browser sees it."""

    name: str
    id: str
    told: Any


class Listening:
    """Somebody with an open stream."""

    def __init__(self, desk: Desk, path: str, last_seen: str = "") -> None:
        headers = desk.headers | ({"Last-Event-ID": last_seen} if last_seen else {})
        self.answer = desk.client.get(path, headers=headers)
        assert self.answer.status_code == 200, self.answer.get_data(as_text=True)
        self._texts: Iterator[Any] = iter(self.answer.response)
        next(self._texts)  # how soon to come again

    def next(self) -> Told:
        """The next frame that says something; silence is borne for a minute or two."""
        for text in islice(self._texts, MOST_QUIET):
            said = text.decode() if isinstance(text, bytes) else text
            if not said.startswith(QUIET):
                fields = dict(line.split(": ", 1) for line in said.strip().split("\n"))
                return Told(fields["event"], fields.get("id", ""), json.loads(fields["data"]))
        raise AssertionError("the stream says nothing, or has ended")

    def until(self, name: str) -> Told:
        """The next frame of that name; others are let pass, but not for ever."""
        passed = []
        for _ in range(MOST_FRAMES):
            frame = self.next()
            if frame.name == name:
                return frame
            passed.append(frame.name)
        raise AssertionError(f"nobody tells {name}, only {passed}")

    def rest(self) -> list[str]:
        """What is still told until the end, which must come."""
        texts = [text.decode() if isinstance(text, bytes) else text for text in islice(self._texts, MOST_FRAMES)]
        assert len(texts) < MOST_FRAMES, "the stream goes on and on"
        return texts

    def leave(self) -> None:
        self.answer.close()


def test_an_organisations_stream_tells_what_becomes_of_its_events(office: Office, evening: Evening) -> None:
    office.work()
    stream = Listening(evening.desk, "/api/live")
    assert stream.next().name == "ready"
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    evening.desk.post(f"{evening.path}/postpone", {"reason": "storm"}, 200)
    office.work()
    steps = [stream.next() for _ in range(2)]
    assert [(one.name, one.told["old_status"], one.told["new_status"]) for one in steps] == [
        ("status", "draft", "published"),
        ("status", "published", "postponed"),
    ]
    assert {one.told["event_id"] for one in steps} == {evening.event["id"]}
    assert int(steps[0].id) < int(steps[1].id)
    stream.leave()


def test_an_organisations_stream_tells_what_becomes_of_its_houses(office: Office, evening: Evening) -> None:
    """No list of events is remembered beyond the change, and a gate that closes is no event that walks on."""
    office.work()
    stream = Listening(evening.desk, "/api/live")
    seen = stream.next()
    house = f"/api/venues/{evening.venue['id']}"
    evening.desk.patch(house, {"city": "Bremen"})
    evening.desk.post(f"{house}/gates", {"code": "A"})
    evening.desk.patch(f"{house}/gates/1", {"status": "closed"})
    office.work()
    told = [stream.next() for _ in range(3)]
    assert [one.name for one in told] == ["venue_changed", "gate_created", "gate_changed"]
    assert {one.told["venue_id"] for one in told} == {evening.venue["id"]}
    assert {(one.told["event_id"], one.told["new_status"]) for one in told} == {(None, None)}
    again = Listening(evening.desk, "/api/live", seen.id)
    assert again.until("gate_changed").told == told[-1].told
    for one in (stream, again):
        one.leave()


def test_streams_keep_organisations_apart(office: Office, evening: Evening) -> None:
    rivals = office.desk(office.organisation("rivals"))
    theirs = Listening(rivals, "/api/live")
    assert theirs.next().name == "ready"
    assert rivals.refused("GET", f"{evening.path}/live") == (404, "event_not_found")
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    venue = rivals.post("/api/venues", {"name": "Quay", "timezone": "Europe/Berlin"})
    own = rivals.post("/api/events", an_event(venue["id"]))
    office.work()
    assert theirs.next().told["venue_id"] == venue["id"]
    assert theirs.next().told["event_id"] == own["id"]
    theirs.leave()


@pytest.mark.parametrize("path", ["/api/live", "{evening}/live"])
def test_who_comes_back_is_told_what_happened_meanwhile(office: Office, evening: Evening, path: str) -> None:
    office.work()
    address = path.format(evening=evening.path)
    first = Listening(evening.desk, address)
    seen = first.next().id
    first.leave()
    for step in ("publish", "go-live"):
        office.advance(5_000)  # what was told within the last two seconds may be told again
        evening.desk.post(f"{evening.path}/{step}", {}, 200)
        office.work()
    again = Listening(evening.desk, address, seen)
    steps = [again.until("status"), again.until("status")]
    assert [one.told["new_status"] for one in steps] == ["published", "live"]
    again.leave()
    last = Listening(evening.desk, address, steps[1].id)
    assert last.next().name in {"ready", "counters"}  # nothing is told twice
    last.leave()


@pytest.mark.parametrize("seen", ["999999", "not-a-number", "-1", "9" * 40])
def test_who_comes_back_too_late_looks_anew(evening: Evening, seen: str) -> None:
    stream = Listening(evening.desk, "/api/live", seen)
    reset = stream.next()
    assert (reset.name, stream.next().name) == ("reset", "ready")
    assert reset.id.isdecimal()
    stream.leave()


def test_a_fact_that_was_committed_late_is_not_lost(office: Office, evening: Evening) -> None:
    """Its number is lower than one that the reader has seen already."""
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    with office.database.reading() as session:
        late, seen = past.newest(session) - 1, past.newest(session)
        org = evening.desk.get("/api/session")["organisation"]["id"]
        told = past.since(session, org, seen)
    assert told is not None and late in [message.order for message in told]
    assert seen not in [message.order for message in told]


def test_seats_that_are_taken_are_told_to_staff_in_full_and_to_strangers_by_number(
    office: Office, evening: Evening
) -> None:
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    stranger = Desk(office.app.test_client(), {})
    org = evening.desk.get("/api/session")["organisation"]["id"]
    staff = Listening(evening.desk, f"{evening.path}/live")
    anybody = Listening(stranger, f"/api/public/events/{evening.event['id']}/live")
    assert anybody.next().told["new_status"] == "published"
    counts = {"total_available": 99, "total_held": 1, "total_sold": 0}
    body = {"event": "seat_held", "seat_id": "s", "hold_id": "h", "event_id": evening.event["id"], **counts}
    office.parts.bus.tell(of_occupancy(org, evening.number), body)
    assert staff.until("occupancy").told == body
    assert anybody.next().told == {"event_id": evening.event["id"], **counts}
    staff.leave()
    anybody.leave()


def test_a_seat_that_is_really_held_is_told_to_whoever_watches(office: Office, desk: Desk) -> None:
    """The whole way: hold, fact, relay, topic, stream."""
    evening = an_evening(desk, capacity=100)
    desk.post(f"{evening.path}/publish", {}, 200)
    office.work()
    anybody = Listening(Desk(office.app.test_client(), {}), f"/api/public/events/{evening.event['id']}/live")
    begun = anybody.until("occupancy").told
    assert (begun["total"], begun["total_available"]) == (100, 100)
    desk.post(f"{evening.path}/holds", {"count": 3})
    office.work()
    told = anybody.until("occupancy").told
    assert (told["total_available"], told["total_held"]) == (97, 3)
    assert set(told) <= {
        "event_id",
        "total",
        "total_available",
        "total_held",
        "total_sold",
        "percent_available",
        "percent_held",
        "percent_sold",
    }
    anybody.leave()


def test_strangers_hear_nothing_of_an_event_that_is_not_shown(office: Office, evening: Evening) -> None:
    stranger = Desk(office.app.test_client(), {})
    path = f"/api/public/events/{evening.event['id']}/live"
    assert stranger.refused("GET", path) == (404, "event_not_found")
    assert stranger.refused("GET", "/api/public/events/nothing/live") == (404, "event_not_found")
    assert stranger.refused("GET", f"{evening.path}/live") == (401, "unauthenticated")
    assert stranger.refused("GET", "/api/live") == (401, "unauthenticated")


def impatient(office: Office) -> None:
    """Let time run away on the server, so that a stream asks at once whether its reader may still listen."""
    turn = iter(range(0, 10**18, 21_000_000_000))
    object.__setattr__(office.parts, "monotonic", lambda: next(turn))


@pytest.mark.parametrize("how", ["revoked", "over", "signed out", "shut out of the house"])
def test_whoever_is_shut_out_hears_nothing_more(office: Office, evening: Evening, how: str) -> None:
    org = evening.desk.get("/api/session")["organisation"]["id"]
    impatient(office)
    if how in {"revoked", "over"}:
        made = evening.desk.post("/api/tokens", {"name": "t", "scopes": ["read"], "ends_at": office.now + 60_000})
        stream = Listening(Desk(office.app.test_client(), {"Authorization": f"Bearer {made['token']}"}), "/api/live")
    else:
        stan = office.user("stan@marquee.example", org, "staff")
        browser = office.browser("stan@marquee.example")
        stream = Listening(browser, "/api/live")
    assert stream.next().name == "ready"
    if how == "revoked":
        evening.desk.ask("DELETE", f"/api/tokens/{made['id']}")
    elif how == "over":
        office.advance(60_000)
    elif how == "signed out":
        browser.ask("DELETE", "/api/session")
    else:
        evening.desk.ask("DELETE", f"/api/members/{stan}")
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    office.work()
    assert stream.rest() == []


def test_a_stream_ends_with_the_server_and_gives_its_seat_back(office: Office, evening: Evening) -> None:
    stream = Listening(evening.desk, "/api/live")
    stream.next()
    office.parts.stop.set()
    assert stream.rest() == []
    stream.leave()
    with office.app.app_context():
        assert sum(streams()._open.values()) == 0
