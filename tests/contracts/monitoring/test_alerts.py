"""Alerts in the API, the log and the metrics: when they are raised, and when they are over."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from sync_server.events.overviews import alert_candidates
from sync_server.monitoring.alert_log import AlertCheck
from sync_server.monitoring.gauges import Gauges
from sync_server.outbox.service import Fact, record
from sync_server.plumbing.jobs import MORE
from sync_server.plumbing.telemetry import logs
from tests.app_server import AppServer, Concert
from tests.builders import DAY, HOUR, MINUTE, an_event
from tests.contracts.holds.seated_event import a_seated_event

FROM_OUTSIDE = {"X-Reason": "asked by the tenant"}


def alerts(concert: Concert) -> dict[str, Any]:
    return {one["kind"]: one for one in concert.api.get("/api/alerts")["items"]}


def measured(app_server: AppServer, kind: str) -> float:
    for update in app_server.parts.metrics.before_scrape:
        if isinstance(gauges := getattr(update, "__self__", None), Gauges):
            gauges._measured_at = -(10**18)  # the last scrape was long ago
    lines = app_server.parts.metrics.text().decode().splitlines()
    return float(next(line for line in lines if line.startswith(f'gatehouse_alerts{{kind="{kind}"}}')).split()[-1])


def test_tickets_for_a_cancelled_event(app_server: AppServer, concert: Concert) -> None:
    concert.issue(count=3)
    concert.api.post(f"{concert.path}/publish", {}, 200)
    assert alerts(concert) == {}
    app_server.advance(MINUTE)
    concert.api.post(f"{concert.path}/cancel", {"reason": "storm"}, 200)
    app_server.advance(HOUR)
    found = alerts(concert)["tickets_on_called_off_event"]
    assert (found["count"], found["since"], found["event_id"]) == (3, "2026-07-04T16:01:00Z", concert.event["id"])
    assert found["means"] and found["do"] and found["venue_id"] == concert.venue["id"]
    assert measured(app_server, "tickets_on_called_off_event") == 1
    for ticket in concert.api.get(f"{concert.path}/tickets")["items"]:
        concert.api.post(f"/api/tickets/{ticket['id']}/cancel", {}, 200)
    assert alerts(concert) == {}
    assert measured(app_server, "tickets_on_called_off_event") == 0


def test_alert_about_a_postponed_event_dates_from_its_postponement(app_server: AppServer, concert: Concert) -> None:
    concert.issue(count=1)
    concert.api.post(f"{concert.path}/publish", {}, 200)
    app_server.advance(MINUTE)
    concert.api.post(f"{concert.path}/postpone", {"reason": "storm"}, 200)
    app_server.advance(HOUR)
    concert.api.patch(concert.path, {"description": "some day"})
    assert alerts(concert)["tickets_on_called_off_event"]["since"] == "2026-07-04T16:01:00Z"


def test_holds_of_a_postponed_event(app_server: AppServer) -> None:
    seated = a_seated_event(app_server)
    seated.reserve(seated.guest(), "A-1")
    concert = Concert(seated.api, {}, seated.event)
    seated.api.post(f"{seated.path}/postpone", {"reason": "storm"}, 200)
    app_server.advance(HOUR)
    app_server.run_worker()  # the hold is suspended, so it is not swept
    found = alerts(concert)["holds_on_called_off_event"]
    assert (found["count"], found["event_id"], found["since"]) == (1, seated.id, "2026-07-04T16:00:00Z")
    assert measured(app_server, "holds_on_called_off_event") == 1
    seated.api.post(f"{seated.path}/cancel", {"reason": "storm"}, 200)
    assert "holds_on_called_off_event" not in alerts(concert)


def test_event_past_its_start_and_past_its_end(app_server: AppServer, concert: Concert) -> None:
    concert.api.post(f"{concert.path}/publish", {}, 200)
    app_server.advance(3 * HOUR)
    assert set(alerts(concert)) == {"not_open_past_start"}
    concert.api.post(f"{concert.path}/go-live", {}, 200)
    assert alerts(concert) == {}
    app_server.advance(6 * HOUR)
    assert alerts(concert)["live_past_end"]["since"] == "2026-07-05T00:00:00Z"


def test_planned_times_in_the_wrong_order(app_server: AppServer, concert: Concert) -> None:
    """The service refuses them, but an import may have written such a row."""
    with app_server.database.engine.begin() as connection:
        connection.execute(text("UPDATE events SET end_at_auto = start_at - 1"))
    assert set(alerts(concert)) == {"times_in_wrong_order"}


def test_other_organisations_do_not_see_the_alert(app_server: AppServer, concert: Concert) -> None:
    concert.api.post(f"{concert.path}/publish", {}, 200)
    app_server.advance(3 * HOUR)
    assert alerts(concert) != {}
    rivals = app_server.api(app_server.organisation("rivals"))
    assert rivals.get("/api/alerts")["items"] == []


@pytest.mark.parametrize("waiting", [100, 101])
def test_waiting_facts_are_an_alert_of_the_platform(app_server: AppServer, concert: Concert, waiting: int) -> None:
    org = concert.api.get("/api/session")["organisation"]["id"]
    app_server.run_worker()
    app_server.user("root@platform.example", platform="super_admin")
    root = app_server.browser("root@platform.example")
    root.ask("POST", "/api/session/organisation", {"organisation_id": org})
    with app_server.database.writing() as session:
        for n in range(waiting):
            record(session, Fact("event_updated", org, app_server.now, {"event": f"e{n}", "event_number": n + 1}))
    counts = {one["kind"]: one["count"] for one in root.get("/api/alerts")["items"]}
    assert counts == ({} if waiting == 100 else {"facts_waiting": waiting})
    assert alerts(concert) == {}
    assert measured(app_server, "facts_waiting") == (0 if waiting == 100 else waiting)


def check(app_server: AppServer, *workers: AlertCheck) -> list[Any]:
    """What is logged when all these workers check in the same minute."""
    logs.set_up("info")
    with capture_logs() as lines:
        for worker in workers:
            result: object = MORE
            while result is MORE:
                with app_server.database.writing() as session:
                    result = worker.run(session, app_server.context())
    return [line for line in lines if line["event"].startswith("alert_")]


def test_alert_is_logged_once_when_raised_and_once_when_over(app_server: AppServer, concert: Concert) -> None:
    concert.api.post(f"{concert.path}/publish", {}, 200)
    app_server.advance(3 * HOUR)
    first, second, third = AlertCheck(), AlertCheck(), AlertCheck()
    (raised,) = check(app_server, first, second, third)
    assert (raised["event"], raised["alert"]) == ("alert_raised", "not_open_past_start")
    assert (raised["event_id"], raised["venue_id"]) == (concert.event["id"], concert.venue["id"])
    assert raised["organisation_id"] and "Night Music" not in str(raised)
    app_server.advance(MINUTE)
    assert check(app_server, second, third) == [], "the first worker died; the others know what it logged"
    app_server.advance(MINUTE)
    assert check(app_server, AlertCheck()) == [], "and so does one that has just started"
    concert.api.post(f"{concert.path}/go-live", {}, 200)
    app_server.advance(MINUTE)
    (over,) = check(app_server, third, second)
    assert (over["event"], over["since"], over["event_id"]) == ("alert_over", raised["since"], raised["event_id"])


def test_claim_by_a_clock_that_was_ahead_blocks_nobody(app_server: AppServer, concert: Concert) -> None:
    concert.api.post(f"{concert.path}/publish", {}, 200)
    app_server.advance(3 * DAY)
    assert len(check(app_server, AlertCheck())) == 1
    app_server.advance(-2 * DAY)
    concert.api.post(f"{concert.path}/go-live", {}, 200)
    assert len(check(app_server, AlertCheck())) == 2, "one over, one raised: live past its end"


def test_more_alerts_than_one_batch_are_all_logged_and_listed(
    app_server: AppServer, concert: Concert, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alert_candidates, "BATCH_SIZE", 3)
    names = {concert.event["id"]}
    for n in range(6):
        more = concert.api.post("/api/events", an_event(concert.venue["id"], name=f"Matinee {n}"))
        names.add(more["id"])
    for name in names:
        concert.api.post(f"/api/events/{name}/publish", {}, 200)
    app_server.advance(3 * HOUR)
    logged = [line["event_id"] for line in check(app_server, AlertCheck())]
    assert (len(logged), set(logged)) == (7, names)
    assert measured(app_server, "not_open_past_start") == 7
    page = concert.api.get("/api/alerts?limit=5")
    rest = concert.api.get(f"/api/alerts?limit=5&after={page['next']}")
    shown = [one["event_id"] for one in [*page["items"], *rest["items"]]]
    assert (len(shown), set(shown), rest["next"]) == (7, names, None)
