"""Event streams: changes are sent, missed facts are sent again, and revoked clients get nothing more."""

from __future__ import annotations

from email.utils import parsedate_to_datetime

import pytest

from sync_server.plumbing.messaging.bus import occupancy_topic
from sync_server.waiting import channels
from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.builders import an_event
from tests.contracts.facts.memory import eventually
from tests.stream_client import StreamClient, ask_listener


def test_an_organisations_stream_sends_changes_of_its_events(app_server: AppServer, concert: Concert) -> None:
    app_server.run_worker()
    stream = StreamClient(app_server, concert.api, "/api/live")
    assert stream.next().name == "ready"
    concert.api.post(f"{concert.path}/publish", {}, 200)
    concert.api.post(f"{concert.path}/postpone", {"reason": "storm"}, 200)
    app_server.run_worker()
    steps = [stream.next() for _ in range(2)]
    assert [(one.name, one.data["old_status"], one.data["new_status"]) for one in steps] == [
        ("status", "draft", "published"),
        ("status", "published", "postponed"),
    ]
    assert {one.data["event_id"] for one in steps} == {concert.event["id"]}
    assert int(steps[0].id) < int(steps[1].id)
    stream.close()


def test_an_organisations_stream_sends_changes_of_its_venues(app_server: AppServer, concert: Concert) -> None:
    """Changes of venues and gates have no event and no status."""
    app_server.run_worker()
    stream = StreamClient(app_server, concert.api, "/api/live")
    seen = stream.next()
    venue_path = f"/api/venues/{concert.venue['id']}"
    concert.api.patch(venue_path, {"city": "Bremen"})
    concert.api.post(f"{venue_path}/gates", {"code": "A"})
    concert.api.patch(f"{venue_path}/gates/1", {"status": "closed"})
    app_server.run_worker()
    frames = [stream.next() for _ in range(3)]
    assert [one.name for one in frames] == ["venue_changed", "gate_created", "gate_changed"]
    assert {one.data["venue_id"] for one in frames} == {concert.venue["id"]}
    assert {(one.data["event_id"], one.data["new_status"]) for one in frames} == {(None, None)}
    again = StreamClient(app_server, concert.api, "/api/live", seen.id)
    assert again.until("gate_changed").data == frames[-1].data
    for one in (stream, again):
        one.close()


def test_streams_contain_only_the_own_organisation(app_server: AppServer, concert: Concert) -> None:
    rivals = app_server.api(app_server.organisation("rivals"))
    theirs = StreamClient(app_server, rivals, "/api/live")
    assert theirs.next().name == "ready"
    assert rivals.refused("GET", f"{concert.path}/live") == (404, "event_not_found")
    concert.api.post(f"{concert.path}/publish", {}, 200)
    venue = rivals.post("/api/venues", {"name": "Quay", "timezone": "Europe/Berlin"})
    own = rivals.post("/api/events", an_event(venue["id"]))
    app_server.run_worker()
    assert theirs.next().data["venue_id"] == venue["id"]
    assert theirs.next().data["event_id"] == own["id"]
    theirs.close()


@pytest.mark.parametrize("path", ["/api/live", "{concert}/live"])
def test_a_reconnecting_client_gets_what_it_missed(app_server: AppServer, concert: Concert, path: str) -> None:
    app_server.run_worker()
    stream_path = path.format(concert=concert.path)
    first = StreamClient(app_server, concert.api, stream_path)
    seen = first.next().id
    first.close()
    for step in ("publish", "go-live"):
        concert.api.post(f"{concert.path}/{step}", {}, 200)
        app_server.run_worker()
    again = StreamClient(app_server, concert.api, stream_path, seen)
    steps = [again.until("status"), again.until("status")]
    assert [one.data["new_status"] for one in steps] == ["published", "live"]
    again.close()
    last = StreamClient(app_server, concert.api, stream_path, steps[1].id)
    assert last.next().name in {"ready", "counters"}  # nothing is repeated
    last.close()


@pytest.mark.parametrize("seen", ["999999", "not-a-number", "-1", "9" * 40])
def test_an_unusable_last_event_id_resets_the_stream(app_server: AppServer, concert: Concert, seen: str) -> None:
    stream = StreamClient(app_server, concert.api, "/api/live", seen)
    reset = stream.next()
    assert (reset.name, stream.next().name) == ("reset", "ready")
    assert reset.id.isdecimal()
    stream.close()


def test_occupancy_is_sent_to_staff_in_full_and_to_visitors_as_numbers(app_server: AppServer, concert: Concert) -> None:
    concert.api.post(f"{concert.path}/publish", {}, 200)
    stranger = ApiClient(app_server.app.test_client(), {})
    org = concert.api.get("/api/session")["organisation"]["id"]
    staff = StreamClient(app_server, concert.api, f"{concert.path}/live")
    anybody = StreamClient(app_server, stranger, f"/api/public/events/{concert.event['id']}/live")
    assert anybody.next().data["new_status"] == "published"
    counts = {"total": 100, "available": 99, "held": 1, "sold": 0}
    body = {"event": "seat_held", "seat_id": "s", "hold_id": "h", "event_id": concert.event["id"], **counts}
    app_server.parts.bus.publish(occupancy_topic(org, concert.number), body)
    assert staff.until("occupancy").data == body
    shown = {"total": 100, "available": 99, "taken": 1, "percent_available": 99.0, "percent_taken": 1.0}
    assert anybody.next().data == {"event_id": concert.event["id"], "mark": None, **shown}
    staff.close()
    anybody.close()


def test_a_hold_reaches_public_streams(app_server: AppServer, api: ApiClient) -> None:
    """From the hold through fact, relay and topic to the stream."""
    concert = a_concert(api, capacity=100)
    api.post(f"{concert.path}/publish", {}, 200)
    app_server.run_worker()
    anybody = StreamClient(
        app_server, ApiClient(app_server.app.test_client(), {}), f"/api/public/events/{concert.event['id']}/live"
    )
    first = anybody.until("occupancy").data
    assert (first["total"], first["available"]) == (100, 100)
    api.post(f"{concert.path}/holds", {"count": 3})
    app_server.run_worker()
    latest = anybody.until("occupancy").data
    assert (latest["available"], latest["taken"]) == (97, 3)
    assert set(latest) == {"event_id", "mark", "total", "available", "taken", "percent_available", "percent_taken"}
    anybody.close()


def test_visitors_get_no_stream_of_a_draft_event(app_server: AppServer, concert: Concert) -> None:
    stranger = ApiClient(app_server.app.test_client(), {})
    path = f"/api/public/events/{concert.event['id']}/live"
    assert stranger.refused("GET", path) == (404, "event_not_found")
    assert stranger.refused("GET", "/api/public/events/nothing/live") == (404, "event_not_found")
    assert stranger.refused("GET", f"{concert.path}/live") == (401, "unauthenticated")
    assert stranger.refused("GET", "/api/live") == (401, "unauthenticated")


@pytest.mark.parametrize("how", ["revoked", "expired", "signed out", "removed from the organisation"])
def test_a_stream_ends_when_its_client_loses_access(
    app_server: AppServer, concert: Concert, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    org = concert.api.get("/api/session")["organisation"]["id"]
    monkeypatch.setattr(channels, "RECHECK_EVERY_S", 0.1)
    if how in {"revoked", "expired"}:
        made = concert.api.post("/api/tokens", {"name": "t", "scopes": ["read"], "ends_at": app_server.now + 60_000})
        stream = StreamClient(
            app_server,
            ApiClient(app_server.app.test_client(), {"Authorization": f"Bearer {made['token']}"}),
            "/api/live",
        )
    else:
        stan = app_server.user("stan@marquee.example", org, "staff")
        browser = app_server.browser("stan@marquee.example")
        stream = StreamClient(app_server, browser, "/api/live")
    assert stream.next().name == "ready"
    if how == "revoked":
        concert.api.ask("DELETE", f"/api/tokens/{made['id']}")
    elif how == "expired":
        app_server.advance(60_000)
    elif how == "signed out":
        browser.ask("DELETE", "/api/session")
    else:
        concert.api.ask("DELETE", f"/api/members/{stan}")
    assert stream.rest() == []


def test_a_stream_ends_with_the_server_and_releases_its_slot(app_server: AppServer, concert: Concert) -> None:
    stream = StreamClient(app_server, concert.api, "/api/live")
    stream.next()
    app_server.parts.stop.set()
    assert stream.rest() == []
    stream.close()
    eventually(lambda: app_server.listener.app.places.taken == 0, "its place is free again")


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/api/events"), ("POST", "/api/events"), ("GET", "/admin/"), ("DELETE", "/api/session")],
)
def test_the_listener_of_streams_answers_nothing_else(
    app_server: AppServer, api: ApiClient, method: str, path: str
) -> None:
    """Its answers may be read by pages on other ports of the same host, which must not reach the whole API."""
    connection, response = ask_listener(app_server, api, path, method, Origin="http://127.0.0.1:9")
    assert response.status in {302, 404}
    assert b"streams only" in response.read() or response.status == 302
    assert parsedate_to_datetime(response.headers["Date"])
    connection.close()
