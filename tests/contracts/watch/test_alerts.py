"""What an organiser, an operator and a monitor are told when something is the matter, and when it is over."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from sync_server.outbox.service import Fact, record
from sync_server.plumbing import logs
from sync_server.watch.gauges import Gauges
from sync_server.watch.rounds import Teller
from tests.builders import HOUR, MINUTE
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


def test_the_log_tells_once_what_comes_up_and_once_that_it_is_over(office: Office, evening: Evening) -> None:
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    office.advance(3 * HOUR)
    teller = Teller()
    logs.set_up("info")

    def look() -> list[dict[str, Any]]:
        with capture_logs() as lines, office.database.writing() as session:
            teller.look(session, office.deed())
        return [line for line in lines if line["event"].startswith("alert_")]

    (raised,) = look()
    assert (raised["event"], raised["alert"]) == ("alert_raised", "not_open_past_start")
    assert (raised["event_id"], raised["venue_id"]) == (evening.event["id"], evening.venue["id"])
    assert raised["organisation_id"] and "Night Music" not in str(raised)
    assert look() == []
    evening.desk.post(f"{evening.path}/go-live", {}, 200)
    assert [line["event"] for line in look()] == ["alert_over"]
