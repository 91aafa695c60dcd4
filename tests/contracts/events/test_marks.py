"""An event that does not take place as announced is marked wherever it is shown."""

from __future__ import annotations

import pytest

from tests.app_server import AppServer, Concert, a_concert
from tests.builders import DAY, EVENING


@pytest.fixture
def concert(app_server: AppServer) -> Concert:
    organisation_id = app_server.organisation("marquee")
    app_server.user("olga@marquee.example", organisation_id, "owner")
    made = a_concert(app_server.api(organisation_id))
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
    }
    return {name: each["mark"] for name, each in shown.items() if each is not None}


def pages(app_server: AppServer, concert: Concert) -> list[str]:
    browser = app_server.browser("olga@marquee.example")
    paths = ("/admin/events", f"/admin/events/{concert.event['id']}", f"/admin/events/{concert.event['id']}/scans")
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


def test_a_cancelled_event_is_marked_for_its_organiser(app_server: AppServer, concert: Concert) -> None:
    concert.api.post(f"{concert.path}/cancel", {"reason": "fire"}, 200)
    found = marks(app_server, concert)
    assert set(found.values()) == {"cancelled"}
    assert {"event", "events", "counters"} <= set(found)
    assert all("Cancelled" in page for page in pages(app_server, concert))
