"""Events change their status, and gates get what the server knows."""

from __future__ import annotations

from typing import Any

import pytest

from shared.lifecycle import TRANSITIONS, EventStatus, scanning
from shared.reasons import Reason
from shared.wire.snapshot import EventRow, PolicyRow, RowKind, SupervisorRow, WhenUncertain
from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.builders import DAY, EVENING, HOUR, a_gate, a_venue, a_zone, an_event

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


def held(app_server: AppServer, concert: Concert) -> EventRow:
    row: EventRow = app_server.gate_rows_of(concert.number, RowKind.EVENT)[0]
    return row


def walk(concert: Concert, *path: str) -> dict[str, Any]:
    event = concert.event
    for step in path:
        event = concert.api.post(f"{concert.path}/{step}", {"reason": "because"}, 200)
    return event


@pytest.mark.parametrize("old", list(EventStatus))
def test_exactly_the_transitions_in_the_table_are_allowed(
    app_server: AppServer, api: ApiClient, old: EventStatus
) -> None:
    venue = api.post("/api/venues", a_venue())
    for new, path in WAYS.items():
        concert = Concert(api, venue, api.post("/api/events", an_event(venue["id"], name=f"Night of {path}")))
        walk(concert, *LEADING_TO[old])
        answer = api.ask("POST", f"{concert.path}/{path}", {})
        allowed = new in TRANSITIONS[old]
        assert answer.status_code == (200 if allowed else 409), (old, new)
        assert api.get(concert.path)["status"] == (new if allowed else old)
        assert held(app_server, concert).status == (new if allowed else old)
        if not allowed:
            assert answer.json["error"]["code"] == "invalid_transition"


def test_the_snapshot_of_a_new_event_has_everything_gates_need(app_server: AppServer, api: ApiClient) -> None:
    venue = api.post("/api/venues", a_venue())
    api.post(f"/api/venues/{venue['id']}/gates", a_gate(step_free=True, capacity=300))
    api.post("/api/supervisors", {"name": "Sue", "pin": "271828"})
    event = api.post("/api/events", an_event(venue["id"], known_tickets_only=True, max_snapshot_age_hours=4))
    kinds = {type(row).__name__ for row in app_server.gate_rows(event["number"])}
    assert kinds == {"EventRow", "GateRow", "SupervisorRow", "KeyRow", "PolicyRow"}
    policy: PolicyRow = app_server.gate_rows_of(event["number"], RowKind.POLICY)[0]
    assert policy == PolicyRow(0, True, 4 * HOUR, WhenUncertain.ADMIT, 5_000)
    gate = app_server.gate_rows_of(event["number"], RowKind.GATE)[0]
    assert (gate.code, gate.step_free, gate.capacity, gate.open, gate.zones) == ("A", True, 300, True, ())


def test_gates_follow_what_changes_at_the_venue_and_in_the_organisation(
    app_server: AppServer, concert: Concert
) -> None:
    api, gates = concert.api, f"/api/venues/{concert.venue['id']}/gates"
    api.post(gates, a_gate())
    api.post(f"{concert.path}/zones", a_zone())
    api.put(f"{concert.path}/gates/1", {"zones": [1]})
    api.patch(f"{gates}/1", {"status": "closed", "name": "North"})
    sue = api.post("/api/supervisors", {"name": "Sue", "pin": "271828"})
    gate = app_server.gate_rows_of(concert.number, RowKind.GATE)[0]
    assert (gate.name, gate.open, gate.zones) == ("North", False, (1,))
    assert [type(row) for row in app_server.gate_rows_of(concert.number, RowKind.SUPERVISOR)] == [SupervisorRow]
    api.patch(f"/api/supervisors/{sue['number']}", {"active": False})
    assert app_server.gate_rows_of(concert.number, RowKind.SUPERVISOR) == []


def test_a_gate_cannot_serve_an_unknown_zone(concert: Concert) -> None:
    assert concert.api.refused("PUT", f"{concert.path}/gates/1", {"zones": []}) == (404, "gate_not_found")
    concert.api.post(f"/api/venues/{concert.venue['id']}/gates", a_gate())
    assert concert.api.refused("PUT", f"{concert.path}/gates/1", {"zones": [3]}) == (404, "zone_not_found")


def test_an_event_keeps_the_location_it_was_created_with(concert: Concert) -> None:
    concert.api.patch(f"/api/venues/{concert.venue['id']}", {"name": "New Hall", "timezone": "America/New_York"})
    event = concert.api.get(concert.path)
    assert (event["venue_name"], event["timezone"]) == ("Harbour Hall", "Europe/Berlin")


def test_a_published_event_with_tickets_cannot_return_to_draft(concert: Concert) -> None:
    walk(concert, "publish", "unpublish", "publish")
    concert.issue()
    assert concert.api.refused("POST", f"{concert.path}/unpublish", {}) == (409, "event_has_tickets")


def test_a_postponed_event_gets_a_new_date_and_its_times_shift(app_server: AppServer, api: ApiClient) -> None:
    kind = {"name": "Early", "price_cents": 1, "quantity": 9, "not_after_at": EVENING + 3 * HOUR}
    concert = a_concert(api, kind=kind, sale_end_at=EVENING + HOUR, go_live_at=EVENING + HOUR)
    ticket = concert.ticket()
    code = concert.code(ticket)
    walk(concert, "publish", "go-live", "postpone")
    assert held(app_server, concert).counts_from == app_server.now
    assert api.get(concert.path)["sale_status"] == "upcoming"  # no new date: nothing is sold
    new_start = EVENING + 2 * HOUR + 7 * DAY
    app_server.advance(1)
    moved = api.post(f"{concert.path}/reschedule", {"rescheduled_at": new_start}, 200)
    assert moved["rescheduled_at"] == "2026-07-11T18:00:00Z" and moved["sale_end_at"] == "2026-07-11T17:00:00Z"
    assert [day["date"] for day in moved["days"]] == ["2026-07-11"]
    row = app_server.gate_rows_of(concert.number, RowKind.TICKET)[0]
    assert row.not_after * 1000 == EVENING + 3 * HOUR + 7 * DAY
    assert concert.code(ticket) == code  # the printed code stays what it is: the row wins
    app_server.advance(1)
    live = api.post(f"{concert.path}/go-live", {}, 200)
    assert live["start_at"] == "2026-07-11T18:00:00Z" and live["rescheduled_at"] is None
    log = f"/api/audit?subject_id={concert.event['id']}"
    opened, dated = api.get(f"{log}&limit=2")["items"]
    postponed = api.get(f"{log}&action=event_postponed")["items"][0]
    assert (opened["before"]["start_at"], opened["after"]["start_at"]) == (EVENING + 2 * HOUR, new_start)
    assert (dated["after"]["rescheduled_at"], opened["before"]["rescheduled_at"]) == (new_start, new_start)
    assert postponed["after"] == {
        "status": "postponed",
        "rescheduled_at": None,
        "counts_from": EVENING,
        "tickets_issued": 1,
        "mark": "postponed",
    }


def test_a_new_date_needs_a_postponed_event_and_a_future_date(concert: Concert) -> None:
    later = {"rescheduled_at": EVENING + DAY}
    assert concert.api.refused("POST", f"{concert.path}/reschedule", later) == (409, "event_not_postponed")
    walk(concert, "publish", "postpone")
    assert concert.api.refused("POST", f"{concert.path}/reschedule", {"rescheduled_at": EVENING - DAY})[0] == 400


def test_plans_for_the_old_date_do_not_open_the_doors_before_the_new_one(app_server: AppServer, api: ApiClient) -> None:
    concert = a_concert(api, go_live_at=EVENING + HOUR, end_at_auto=EVENING + 8 * HOUR, sale_end_at=EVENING + HOUR)
    walk(concert, "publish", "postpone")
    app_server.advance(DAY)  # the old date has passed
    body = {"rescheduled_at": EVENING + 2 * HOUR + 7 * DAY, "move_times": False}
    moved = api.post(f"{concert.path}/reschedule", body, 200)
    assert (moved["go_live_at"], moved["end_at_auto"]) == ("2026-07-11T17:00:00Z", "2026-07-12T00:00:00Z")
    assert moved["sale_end_at"] == "2026-07-04T17:00:00Z"  # sales stay on request
    app_server.run_worker()
    assert scanning(held(app_server, concert), app_server.now) is Reason.EVENT_POSTPONED
    assert api.get(concert.path)["status"] == "postponed"


def test_an_event_reinstated_without_a_new_date_waits_to_be_opened_by_hand(
    app_server: AppServer, api: ApiClient
) -> None:
    concert = a_concert(api, go_live_at=EVENING + HOUR, end_at_auto=EVENING + 9 * HOUR)
    walk(concert, "publish", "postpone")
    app_server.advance(DAY)
    walk(concert, "publish")
    app_server.run_worker()
    assert api.get(concert.path)["status"] == "published"
    assert scanning(held(app_server, concert), app_server.now) is Reason.EVENT_NOT_LIVE
    walk(concert, "go-live")
    app_server.run_worker()
    assert api.get(concert.path)["status"] == "live"


def test_an_event_opened_by_hand_after_its_planned_end_stays_live(app_server: AppServer, api: ApiClient) -> None:
    concert = a_concert(api, end_at_auto=EVENING + 8 * HOUR)
    walk(concert, "publish")
    app_server.advance(9 * HOUR)
    walk(concert, "go-live")
    app_server.run_worker()
    assert api.get(concert.path)["status"] == "live"
    assert scanning(held(app_server, concert), app_server.now) is None


def test_an_earlier_date_is_refused_if_sales_would_outlast_it(api: ApiClient) -> None:
    concert = a_concert(api, start_at=EVENING + 7 * DAY, end_at=EVENING + 7 * DAY + HOUR)
    walk(concert, "publish", "postpone")
    body = {"rescheduled_at": EVENING + DAY, "move_times": False}
    assert api.refused("POST", f"{concert.path}/reschedule", body) == (400, "invalid_times")
    api.post(f"{concert.path}/reschedule", body | {"move_times": True}, 200)


def test_the_worker_applies_planned_transitions_when_due(app_server: AppServer, api: ApiClient) -> None:
    concert = a_concert(api, go_live_at=EVENING + HOUR, end_at_auto=EVENING + 9 * HOUR)
    walk(concert, "publish")
    app_server.run_worker()
    assert held(app_server, concert).status == "published"
    app_server.advance(HOUR)
    app_server.run_worker()
    assert held(app_server, concert).status == "live"
    app_server.advance(8 * HOUR)
    app_server.run_worker()
    assert api.get(concert.path)["status"] == "ended"


def test_a_worker_that_was_down_all_evening_catches_up_in_order(app_server: AppServer, api: ApiClient) -> None:
    concert = a_concert(api, go_live_at=EVENING + HOUR, end_at_auto=EVENING + 9 * HOUR)
    walk(concert, "publish")
    app_server.advance(DAY)
    app_server.run_worker()
    assert api.get(concert.path)["status"] == "ended"


def test_the_venue_is_emptied_only_while_the_event_is_on(app_server: AppServer, concert: Concert) -> None:
    assert concert.api.refused("POST", f"{concert.path}/empty-house", {}) == (409, "event_not_live")
    walk(concert, "publish", "go-live")
    app_server.advance(HOUR)
    concert.api.post(f"{concert.path}/empty-house", {"reason": "fire alarm"}, 200)
    assert held(app_server, concert).counts_from == app_server.now


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ((), "upcoming"),
        (("publish",), "on_sale"),
        (("publish", "go-live", "end"), "closed"),
        (("cancel",), "cancelled"),
    ],
)
def test_the_sale_status_is_derived(concert: Concert, path: tuple[str, ...], expected: str) -> None:
    walk(concert, *path)
    assert concert.api.get(concert.path)["sale_status"] == expected


def test_lists_are_paged_by_start_and_filtered(concert: Concert) -> None:
    api, venue = concert.api, concert.venue["id"]
    for hours in (30, 26, 28):
        api.post("/api/events", an_event(venue, start_at=EVENING + hours * HOUR, end_at=EVENING + (hours + 1) * HOUR))
    seen, after = [], ""
    while True:
        page = api.get(f"/api/events?limit=2{after}")
        seen += [event["start_at"] for event in page["items"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert seen == sorted(seen) and len(seen) == 4
    assert api.get("/api/events?status=live")["items"] == []
    assert len(api.get("/api/me/events")["items"]) == 4


def test_a_changed_event_reaches_its_gates_and_a_closed_one_is_read_only(
    app_server: AppServer, concert: Concert
) -> None:
    concert.api.patch(concert.path, {"name": "Night Music, again", "anti_passback": True})
    assert (held(app_server, concert).name, held(app_server, concert).anti_passback) == ("Night Music, again", True)
    concert.api.post(f"/api/venues/{concert.venue['id']}/gates", a_gate())
    walk(concert, "publish", "go-live", "end")
    ways = (("PATCH", "", {"name": "X"}), ("POST", "/zones", {"name": "Floor"}), ("PUT", "/gates/1", {"zones": []}))
    for method, path, body in ways:
        assert concert.api.refused(method, concert.path + path, body) == (409, "event_closed"), path
