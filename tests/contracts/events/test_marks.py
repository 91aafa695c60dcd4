"""An event that does not take place as announced is marked wherever it is shown."""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.builders import DAY, EVENING
from tests.stream_client import StreamClient


@pytest.fixture
def concert(app_server: AppServer) -> Concert:
    organisation_id = app_server.organisation("marquee")
    app_server.user("olga@marquee.example", organisation_id, "owner")
    made = a_concert(app_server.api(organisation_id), capacity=100)
    made.api.post(f"{made.path}/publish", {}, 200)
    return made


def marks(app_server: AppServer, concert: Concert) -> dict[str, str | None]:
    """What each list and figure of the event is marked with; visitors see no cancelled event in lists."""
    app_server.run_worker()
    api, visitor = concert.api, app_server.app.test_client()
    shown = {
        "event": api.get(concert.path),
        "events": api.get("/api/events")["items"][0],
        "own": next(iter(api.get("/api/me/events")["items"]), None),
        "counters": api.get(f"{concert.path}/counters"),
        "summary": next(iter(api.get("/api/events/summaries")["items"]), None),
        "feed": next(iter(visitor.get("/api/public/events").json["items"]), None),
        "occupancy": api.get(f"{concert.path}/occupancy"),
        "public occupancy": visitor.get(f"/api/public/events/{concert.event['id']}/occupancy").json,
        "alert": next(iter(api.get("/api/alerts")["items"]), None),
    }
    return {name: each["mark"] for name, each in shown.items() if each is not None and "mark" in each}


def streamed(app_server: AppServer, concert: Concert, wanted: str, change: str, body: object) -> list[str | None]:
    """What the three streams say of the event when it changes so: its organiser's, the organisation's, the public."""
    app_server.run_worker()
    visitor = ApiClient(app_server.app.test_client(), {})
    public = f"/api/public/events/{concert.event['id']}/live"
    opened = [(concert.api, f"{concert.path}/live"), (concert.api, "/api/live"), (visitor, public)]
    streams = [StreamClient(app_server, client, path) for client, path in opened]
    for stream, first in zip(streams, ("counters", "ready", "status"), strict=True):
        stream.until(first)
    concert.api.post(f"{concert.path}/{change}", body, 200)
    app_server.run_worker()
    said = []
    for stream in streams:
        said.append(stream.until(wanted).data["mark"])
        stream.close()
    return said


def pages(app_server: AppServer, concert: Concert) -> list[str]:
    browser = app_server.browser("olga@marquee.example")
    paths = (
        "/admin/events?show=all",
        f"/admin/events/{concert.event['id']}",
        f"/admin/events/{concert.event['id']}/scans",
    )
    return [browser.ask("GET", path).get_data(as_text=True) for path in paths]


def test_an_event_as_announced_has_no_mark(app_server: AppServer, concert: Concert) -> None:
    assert set(marks(app_server, concert).values()) == {None}
    assert not any("Postponed" in page for page in pages(app_server, concert))


def test_a_postponed_event_is_marked_until_it_takes_place(app_server: AppServer, concert: Concert) -> None:
    concert.api.post(f"{concert.path}/postpone", {"reason": "storm"}, 200)
    assert set(marks(app_server, concert).values()) == {"postponed"}
    assert all("Postponed, no new date yet" in page for page in pages(app_server, concert))
    concert.api.post(f"{concert.path}/reschedule", {"rescheduled_at": EVENING + 9 * DAY}, 200)
    assert set(marks(app_server, concert).values()) == {"rescheduled"}
    assert all("Postponed to a new date" in page for page in pages(app_server, concert))
    concert.api.post(f"{concert.path}/go-live", {}, 200)
    assert set(marks(app_server, concert).values()) == {None}, "it takes place, on the date that everybody knows"


def test_streams_say_how_an_event_does_not_take_place(app_server: AppServer, concert: Concert) -> None:
    postponed = streamed(app_server, concert, "status", "postpone", {"reason": "storm"})
    assert postponed == ["postponed"] * 3
    concert.api.post(f"{concert.path}/reschedule", {"rescheduled_at": EVENING + 9 * DAY}, 200)
    again = streamed(app_server, concert, "status", "publish", {})
    assert again == [None] * 3, "it takes place as everybody knows by now"
    assert streamed(app_server, concert, "status", "cancel", {"reason": "fire"}) == ["cancelled"] * 3


def test_how_many_seats_are_left_is_said_with_the_mark(app_server: AppServer, concert: Concert) -> None:
    concert.api.post(f"{concert.path}/postpone", {"reason": "storm"}, 200)
    app_server.run_worker()
    visitor = ApiClient(app_server.app.test_client(), {})
    with closing(StreamClient(app_server, visitor, f"/api/public/events/{concert.event['id']}/live")) as stream:
        status, occupancy = stream.next(), stream.next()
    assert [(each.name, each.data["mark"]) for each in (status, occupancy)] == [
        ("status", "postponed"),
        ("occupancy", "postponed"),
    ]


def test_an_alert_says_what_became_of_its_event(app_server: AppServer, concert: Concert) -> None:
    concert.issue(count=2)
    concert.api.post(f"{concert.path}/postpone", {"reason": "storm"}, 200)
    assert marks(app_server, concert)["alert"] == "postponed"
    page = app_server.browser("olga@marquee.example").ask("GET", "/admin/alerts").get_data(as_text=True)
    assert "Postponed, no new date yet" in page


def test_what_was_cancelled_stays_so_in_the_archive(app_server: AppServer, concert: Concert) -> None:
    concert.api.post(f"{concert.path}/cancel", {"reason": "fire"}, 200)
    concert.api.post(f"{concert.path}/archive", {}, 200)
    api = concert.api
    (listed,) = api.get("/api/events?status=archived")["items"]
    shown = [listed, api.get(concert.path), api.get(f"{concert.path}/counters"), api.get(f"{concert.path}/occupancy")]
    assert [each["mark"] for each in shown] == ["cancelled"] * 4
    assert "Cancelled" in pages(app_server, concert)[1]


def test_what_took_place_has_no_mark_in_the_archive(app_server: AppServer, concert: Concert) -> None:
    for change in ("go-live", "end", "archive"):
        concert.api.post(f"{concert.path}/{change}", {}, 200)
    assert concert.api.get(concert.path)["mark"] is None


def test_a_cancelled_event_is_marked_for_its_organiser(app_server: AppServer, concert: Concert) -> None:
    concert.api.post(f"{concert.path}/cancel", {"reason": "fire"}, 200)
    found = marks(app_server, concert)
    assert set(found.values()) == {"cancelled"}
    assert {"event", "events", "counters"} <= set(found)
    assert all("Cancelled" in page for page in pages(app_server, concert))
