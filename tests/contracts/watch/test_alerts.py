"""What an organiser, an operator and a monitor are told when something is the matter, and when it is over."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from sync_server.events import watching
from sync_server.outbox.service import Fact, record
from sync_server.plumbing import logs
from sync_server.plumbing.work import MORE
from sync_server.watch.gauges import Gauges
from sync_server.watch.telling import AlertsRound
from tests.builders import DAY, HOUR, MINUTE, an_event
from tests.contracts.holds.house import a_house
from tests.office import Evening, Office

FROM_OUTSIDE = {"X-Reason": "asked by the tenant"}


def alerts(evening: Evening) -> dict[str, Any]:
    return {one["kind"]: one for one in evening.desk.get("/api/alerts")["items"]}


def measured(office: Office, kind: str) -> float:
    for look in office.parts.metrics.before_reading:
        if isinstance(gauges := getattr(look, "__self__", None), Gauges):
            gauges._looked = -(10**18)  # nobody has looked for a long time
    lines = office.app.test_client().get("/metrics").get_data(as_text=True).splitlines()
    return float(next(line for line in lines if line.startswith(f'gatehouse_alerts{{kind="{kind}"}}')).split()[-1])


def test_people_hold_tickets_for_an_event_that_is_cancelled(office: Office, evening: Evening) -> None:
    evening.issue(count=3)
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    assert alerts(evening) == {}
    office.advance(MINUTE)
    evening.desk.post(f"{evening.path}/cancel", {"reason": "storm"}, 200)
    office.advance(HOUR)
    found = alerts(evening)["tickets_on_called_off_event"]
    assert (found["count"], found["since"], found["event_id"]) == (3, "2026-07-04T16:01:00Z", evening.event["id"])
    assert found["means"] and found["do"] and found["venue_id"] == evening.venue["id"]
    assert measured(office, "tickets_on_called_off_event") == 1
    for ticket in evening.desk.get(f"{evening.path}/tickets")["items"]:
        evening.desk.post(f"/api/tickets/{ticket['id']}/cancel", {}, 200)
    assert alerts(evening) == {}
    assert measured(office, "tickets_on_called_off_event") == 0


def test_a_postponed_event_counts_from_its_postponement_not_from_its_last_change(
    office: Office, evening: Evening
) -> None:
    evening.issue(count=1)
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    office.advance(MINUTE)
    evening.desk.post(f"{evening.path}/postpone", {"reason": "storm"}, 200)
    office.advance(HOUR)
    evening.desk.patch(evening.path, {"description": "some day"})
    assert alerts(evening)["tickets_on_called_off_event"]["since"] == "2026-07-04T16:01:00Z"


def test_seats_are_held_at_an_event_without_a_date(office: Office) -> None:
    house = a_house(office)
    house.reserve(house.guest(), "A-1")
    evening = Evening(house.desk, {}, house.event)
    house.desk.post(f"{house.path}/postpone", {"reason": "storm"}, 200)
    office.advance(HOUR)
    office.work()  # its time stands still: nobody sweeps it
    found = alerts(evening)["holds_on_called_off_event"]
    assert (found["count"], found["event_id"], found["since"]) == (1, house.id, "2026-07-04T16:00:00Z")
    assert measured(office, "holds_on_called_off_event") == 1
    house.desk.post(f"{house.path}/cancel", {"reason": "storm"}, 200)
    assert "holds_on_called_off_event" not in alerts(evening)


def test_an_event_that_ought_to_have_begun_and_one_that_ought_to_be_over(office: Office, evening: Evening) -> None:
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    office.advance(3 * HOUR)
    assert set(alerts(evening)) == {"not_open_past_start"}
    evening.desk.post(f"{evening.path}/go-live", {}, 200)
    assert alerts(evening) == {}
    office.advance(6 * HOUR)
    assert alerts(evening)["live_past_end"]["since"] == "2026-07-05T00:00:00Z"


def test_planned_times_in_the_wrong_order(office: Office, evening: Evening) -> None:
    """The service refuses them; a row that an import or an old version wrote is found all the same."""
    with office.database.engine.begin() as line:
        line.execute(text("UPDATE events SET end_at_auto = start_at - 1"))
    assert set(alerts(evening)) == {"times_in_wrong_order"}


def test_other_organisations_hear_nothing_of_it(office: Office, evening: Evening) -> None:
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    office.advance(3 * HOUR)
    assert alerts(evening) != {}
    rivals = office.desk(office.organisation("rivals"))
    assert rivals.get("/api/alerts")["items"] == []


@pytest.mark.parametrize("waiting", [100, 101])
def test_more_than_a_hundred_waiting_facts_are_the_platforms_business(
    office: Office, evening: Evening, waiting: int
) -> None:
    org = evening.desk.get("/api/session")["organisation"]["id"]
    office.work()
    office.user("root@platform.example", platform="super_admin")
    root = office.browser("root@platform.example")
    root.ask("POST", "/api/session/organisation", {"organisation_id": org})
    with office.database.writing() as session:
        for n in range(waiting):
            record(session, Fact("event_updated", org, office.now, {"event": f"e{n}", "event_number": n + 1}))
    told = {one["kind"]: one["count"] for one in root.get("/api/alerts")["items"]}
    assert told == ({} if waiting == 100 else {"facts_waiting": waiting})
    assert alerts(evening) == {}
    assert measured(office, "facts_waiting") == (0 if waiting == 100 else waiting)


def look(office: Office, *workers: AlertsRound) -> list[Any]:
    """What the log is told when all these workers look in the same minute."""
    logs.set_up("info")
    with capture_logs() as lines:
        for worker in workers:
            going: object = MORE
            while going is MORE:
                with office.database.writing() as session:
                    going = worker.go(session, office.deed())
    return [line for line in lines if line["event"].startswith("alert_")]


def test_of_three_workers_one_tells_once_what_comes_up_and_once_that_it_is_over(
    office: Office, evening: Evening
) -> None:
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    office.advance(3 * HOUR)
    first, second, third = AlertsRound(), AlertsRound(), AlertsRound()
    (raised,) = look(office, first, second, third)
    assert (raised["event"], raised["alert"]) == ("alert_raised", "not_open_past_start")
    assert (raised["event_id"], raised["venue_id"]) == (evening.event["id"], evening.venue["id"])
    assert raised["organisation_id"] and "Night Music" not in str(raised)
    office.advance(MINUTE)
    assert look(office, second, third) == [], "the first one died; the others know what it told"
    office.advance(MINUTE)
    assert look(office, AlertsRound()) == [], "and so does one that has only just started"
    evening.desk.post(f"{evening.path}/go-live", {}, 200)
    office.advance(MINUTE)
    (over,) = look(office, third, second)
    assert (over["event"], over["since"], over["event_id"]) == ("alert_over", raised["since"], raised["event_id"])


def test_a_worker_whose_clock_was_ahead_silences_nobody(office: Office, evening: Evening) -> None:
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    office.advance(3 * DAY)
    assert len(look(office, AlertsRound())) == 1
    office.advance(-2 * DAY)
    evening.desk.post(f"{evening.path}/go-live", {}, 200)
    assert len(look(office, AlertsRound())) == 2, "over, and live past its end"


def test_more_alerts_than_one_turn_looks_at_are_all_told_page_by_page(
    office: Office, evening: Evening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "AT_ONCE", 3)
    names = {evening.event["id"]}
    for n in range(6):
        more = evening.desk.post("/api/events", an_event(evening.venue["id"], name=f"Matinee {n}"))
        names.add(more["id"])
    for name in names:
        evening.desk.post(f"/api/events/{name}/publish", {}, 200)
    office.advance(3 * HOUR)
    told = [line["event_id"] for line in look(office, AlertsRound())]
    assert (len(told), set(told)) == (7, names)
    assert measured(office, "not_open_past_start") == 7
    page = evening.desk.get("/api/alerts?limit=5")
    rest = evening.desk.get(f"/api/alerts?limit=5&after={page['next']}")
    shown = [one["event_id"] for one in [*page["items"], *rest["items"]]]
    assert (len(shown), set(shown), rest["next"]) == (7, names, None)
