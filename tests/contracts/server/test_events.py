"""Events walk through their statuses, and gates hold what the server knows."""

from __future__ import annotations

from typing import Any

import pytest

from shared.lifecycle import TRANSITIONS, EventStatus, scanning
from shared.reasons import Reason
from shared.snapshot import EventRow, PolicyRow, RowKind, SupervisorRow, WhenUncertain
from tests.builders import DAY, EVENING, HOUR, a_gate, a_venue, a_zone, an_event
from tests.office import Desk, Evening, Office, an_evening

WAYS = {
    EventStatus.PUBLISHED: "publish",
    EventStatus.DRAFT: "unpublish",
    EventStatus.LIVE: "go-live",
    EventStatus.ENDED: "end",
    EventStatus.CANCELLED: "cancel",
    EventStatus.POSTPONED: "postpone",
    EventStatus.ARCHIVED: "archive",
}
LEADING_TO = {
    EventStatus.DRAFT: [],
    EventStatus.PUBLISHED: ["publish"],
    EventStatus.LIVE: ["publish", "go-live"],
    EventStatus.ENDED: ["publish", "go-live", "end"],
    EventStatus.CANCELLED: ["cancel"],
    EventStatus.POSTPONED: ["publish", "postpone"],
    EventStatus.ARCHIVED: ["archive"],
}


def held(office: Office, evening: Evening) -> EventRow:
    row: EventRow = office.held_of(evening.number, RowKind.EVENT)[0]
    return row


def walk(evening: Evening, *path: str) -> dict[str, Any]:
    event = evening.event
    for step in path:
        event = evening.desk.post(f"{evening.path}/{step}", {"reason": "because"}, 200)
    return event


@pytest.mark.parametrize("old", list(EventStatus))
def test_every_way_of_the_table_is_open_and_every_other_is_closed(office: Office, desk: Desk, old: EventStatus) -> None:
    venue = desk.post("/api/venues", a_venue())
    for new, path in WAYS.items():
        evening = Evening(desk, venue, desk.post("/api/events", an_event(venue["id"], name=f"Night of {path}")))
        walk(evening, *LEADING_TO[old])
        answer = desk.ask("POST", f"{evening.path}/{path}", {})
        allowed = new in TRANSITIONS[old]
        assert answer.status_code == (200 if allowed else 409), (old, new)
        assert desk.get(evening.path)["status"] == (new if allowed else old)
        assert held(office, evening).status == (new if allowed else old)
        if not allowed:
            assert answer.json["error"]["code"] == "invalid_transition"


def test_a_new_event_is_held_with_everything_that_its_gates_need(office: Office, desk: Desk) -> None:
    venue = desk.post("/api/venues", a_venue())
    desk.post(f"/api/venues/{venue['id']}/gates", a_gate(step_free=True, capacity=300))
    desk.post("/api/supervisors", {"name": "Sue", "pin": "271828"})
    event = desk.post("/api/events", an_event(venue["id"], known_tickets_only=True, max_snapshot_age_hours=4))
    kinds = {type(row).__name__ for row in office.held(event["number"])}
    assert kinds == {"EventRow", "GateRow", "SupervisorRow", "KeyRow", "PolicyRow"}
    policy: PolicyRow = office.held_of(event["number"], RowKind.POLICY)[0]
    assert policy == PolicyRow(0, True, 4 * HOUR, WhenUncertain.ADMIT, 5_000)
    gate = office.held_of(event["number"], RowKind.GATE)[0]
    assert (gate.code, gate.step_free, gate.capacity, gate.open, gate.zones) == ("A", True, 300, True, ())


def test_gates_follow_what_changes_at_the_venue_and_in_the_organisation(office: Office, evening: Evening) -> None:
    desk, gates = evening.desk, f"/api/venues/{evening.venue['id']}/gates"
    desk.post(gates, a_gate())
    desk.post(f"{evening.path}/zones", a_zone())
    desk.put(f"{evening.path}/gates/1", {"zones": [1]})
    desk.patch(f"{gates}/1", {"status": "closed", "name": "North"})
    sue = desk.post("/api/supervisors", {"name": "Sue", "pin": "271828"})
    gate = office.held_of(evening.number, RowKind.GATE)[0]
    assert (gate.name, gate.open, gate.zones) == ("North", False, (1,))
    assert [type(row) for row in office.held_of(evening.number, RowKind.SUPERVISOR)] == [SupervisorRow]
    desk.patch(f"/api/supervisors/{sue['number']}", {"active": False})
    assert office.held_of(evening.number, RowKind.SUPERVISOR) == []


def test_a_gate_serves_no_zone_that_is_not_there(evening: Evening) -> None:
    assert evening.desk.refused("PUT", f"{evening.path}/gates/1", {"zones": []}) == (404, "gate_not_found")
    evening.desk.post(f"/api/venues/{evening.venue['id']}/gates", a_gate())
    assert evening.desk.refused("PUT", f"{evening.path}/gates/1", {"zones": [3]}) == (404, "zone_not_found")


def test_an_event_keeps_the_place_it_was_made_at(evening: Evening) -> None:
    evening.desk.patch(f"/api/venues/{evening.venue['id']}", {"name": "New Hall", "timezone": "America/New_York"})
    event = evening.desk.get(evening.path)
    assert (event["venue_name"], event["timezone"]) == ("Harbour Hall", "Europe/Berlin")


def test_a_published_event_with_tickets_does_not_become_a_draft_again(evening: Evening) -> None:
    walk(evening, "publish", "unpublish", "publish")
    evening.issue()
    assert evening.desk.refused("POST", f"{evening.path}/unpublish", {}) == (409, "event_has_tickets")


def test_a_postponed_event_gets_a_new_date_and_everything_moves_along(office: Office, desk: Desk) -> None:
    kind = {"name": "Early", "price_cents": 1, "quantity": 9, "not_after_at": EVENING + 3 * HOUR}
    evening = an_evening(desk, kind=kind, sale_end_at=EVENING + HOUR, go_live_at=EVENING + HOUR)
    ticket = evening.ticket()
    code = evening.code(ticket)
    walk(evening, "publish", "go-live", "postpone")
    assert held(office, evening).counts_from == office.now
    assert desk.get(evening.path)["sale_status"] == "upcoming"  # no new date: nothing is sold
    new_start = EVENING + 2 * HOUR + 7 * DAY
    office.advance(1)
    moved = desk.post(f"{evening.path}/reschedule", {"rescheduled_at": new_start}, 200)
    assert moved["rescheduled_at"] == "2026-07-11T18:00:00Z" and moved["sale_end_at"] == "2026-07-11T17:00:00Z"
    assert [day["date"] for day in moved["days"]] == ["2026-07-11"]
    row = office.held_of(evening.number, RowKind.TICKET)[0]
    assert row.not_after * 1000 == EVENING + 3 * HOUR + 7 * DAY
    assert evening.code(ticket) == code  # the printed code stays what it is: the row wins
    office.advance(1)
    live = desk.post(f"{evening.path}/go-live", {}, 200)
    assert live["start_at"] == "2026-07-11T18:00:00Z" and live["rescheduled_at"] is None
    log = f"/api/audit?subject_id={evening.event['id']}"
    opened, dated = desk.get(f"{log}&limit=2")["items"]
    postponed = desk.get(f"{log}&action=event_postponed")["items"][0]
    assert (opened["before"]["start_at"], opened["after"]["start_at"]) == (EVENING + 2 * HOUR, new_start)
    assert (dated["after"]["rescheduled_at"], opened["before"]["rescheduled_at"]) == (new_start, new_start)
    assert postponed["after"] == {"status": "postponed", "rescheduled_at": None, "counts_from": EVENING}


def test_a_new_date_needs_a_postponed_event_and_a_day_to_come(evening: Evening) -> None:
    later = {"rescheduled_at": EVENING + DAY}
    assert evening.desk.refused("POST", f"{evening.path}/reschedule", later) == (409, "event_not_postponed")
    walk(evening, "publish", "postpone")
    assert evening.desk.refused("POST", f"{evening.path}/reschedule", {"rescheduled_at": EVENING - DAY})[0] == 400


def test_the_plans_of_the_old_evening_open_no_house_before_the_new_one(office: Office, desk: Desk) -> None:
    evening = an_evening(desk, go_live_at=EVENING + HOUR, end_at_auto=EVENING + 8 * HOUR, sale_end_at=EVENING + HOUR)
    walk(evening, "publish", "postpone")
    office.advance(DAY)  # the old evening has gone by
    wish = {"rescheduled_at": EVENING + 2 * HOUR + 7 * DAY, "move_times": False}
    moved = desk.post(f"{evening.path}/reschedule", wish, 200)
    assert (moved["go_live_at"], moved["end_at_auto"]) == ("2026-07-11T17:00:00Z", "2026-07-12T00:00:00Z")
    assert moved["sale_end_at"] == "2026-07-04T17:00:00Z"  # sales were told to stay
    office.work()
    assert scanning(held(office, evening), office.now) is Reason.EVENT_POSTPONED
    assert desk.get(evening.path)["status"] == "postponed"


def test_an_event_taken_back_without_a_new_date_waits_for_somebody_to_open_it(office: Office, desk: Desk) -> None:
    evening = an_evening(desk, go_live_at=EVENING + HOUR, end_at_auto=EVENING + 9 * HOUR)
    walk(evening, "publish", "postpone")
    office.advance(DAY)
    walk(evening, "publish")
    office.work()
    assert desk.get(evening.path)["status"] == "published"
    assert scanning(held(office, evening), office.now) is Reason.EVENT_NOT_LIVE
    walk(evening, "go-live")
    office.work()
    assert desk.get(evening.path)["status"] == "live"


def test_a_house_opened_by_hand_after_its_planned_end_stays_open(office: Office, desk: Desk) -> None:
    evening = an_evening(desk, end_at_auto=EVENING + 8 * HOUR)
    walk(evening, "publish")
    office.advance(9 * HOUR)
    walk(evening, "go-live")
    office.work()
    assert desk.get(evening.path)["status"] == "live"
    assert scanning(held(office, evening), office.now) is None


def test_an_earlier_date_is_refused_where_sales_would_outlast_it(desk: Desk) -> None:
    evening = an_evening(desk, start_at=EVENING + 7 * DAY, end_at=EVENING + 7 * DAY + HOUR)
    walk(evening, "publish", "postpone")
    wish = {"rescheduled_at": EVENING + DAY, "move_times": False}
    assert desk.refused("POST", f"{evening.path}/reschedule", wish) == (400, "invalid_times")
    desk.post(f"{evening.path}/reschedule", wish | {"move_times": True}, 200)


def test_the_worker_writes_planned_transitions_when_they_are_due(office: Office, desk: Desk) -> None:
    evening = an_evening(desk, go_live_at=EVENING + HOUR, end_at_auto=EVENING + 9 * HOUR)
    walk(evening, "publish")
    office.work()
    assert held(office, evening).status == "published"
    office.advance(HOUR)
    office.work()
    assert held(office, evening).status == "live"
    office.advance(8 * HOUR)
    office.work()
    assert desk.get(evening.path)["status"] == "ended"


def test_a_worker_that_slept_through_the_evening_catches_up_in_order(office: Office, desk: Desk) -> None:
    evening = an_evening(desk, go_live_at=EVENING + HOUR, end_at_auto=EVENING + 9 * HOUR)
    walk(evening, "publish")
    office.advance(DAY)
    office.work()
    assert desk.get(evening.path)["status"] == "ended"


def test_the_house_is_emptied_only_while_the_event_goes_on(office: Office, evening: Evening) -> None:
    assert evening.desk.refused("POST", f"{evening.path}/empty-house", {}) == (409, "event_not_live")
    walk(evening, "publish", "go-live")
    office.advance(HOUR)
    evening.desk.post(f"{evening.path}/empty-house", {"reason": "fire alarm"}, 200)
    assert held(office, evening).counts_from == office.now


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ((), "upcoming"),
        (("publish",), "on_sale"),
        (("publish", "go-live", "end"), "closed"),
        (("cancel",), "cancelled"),
    ],
)
def test_the_sale_status_is_derived(evening: Evening, path: tuple[str, ...], expected: str) -> None:
    walk(evening, *path)
    assert evening.desk.get(evening.path)["sale_status"] == expected


def test_lists_are_paged_by_start_and_filtered(evening: Evening) -> None:
    desk, venue = evening.desk, evening.venue["id"]
    for hours in (30, 26, 28):
        desk.post("/api/events", an_event(venue, start_at=EVENING + hours * HOUR, end_at=EVENING + (hours + 1) * HOUR))
    seen, after = [], ""
    while True:
        page = desk.get(f"/api/events?limit=2{after}")
        seen += [event["start_at"] for event in page["items"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert seen == sorted(seen) and len(seen) == 4
    assert desk.get("/api/events?status=live")["items"] == []
    assert len(desk.get("/api/me/events")["items"]) == 4


def test_a_changed_event_reaches_its_gates_and_a_closed_one_stays(office: Office, evening: Evening) -> None:
    evening.desk.patch(evening.path, {"name": "Night Music, again", "anti_passback": True})
    assert (held(office, evening).name, held(office, evening).anti_passback) == ("Night Music, again", True)
    evening.desk.post(f"/api/venues/{evening.venue['id']}/gates", a_gate())
    walk(evening, "publish", "go-live", "end")
    ways = (("PATCH", "", {"name": "X"}), ("POST", "/zones", {"name": "Floor"}), ("PUT", "/gates/1", {"zones": []}))
    for method, path, body in ways:
        assert evening.desk.refused(method, evening.path + path, body) == (409, "event_closed"), path
