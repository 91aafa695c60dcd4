"""Alerts about events that are seated badly, and when they are over."""

from __future__ import annotations

from typing import Any

from tests.app_server import AppServer
from tests.builders import MINUTE, a_ticket_type
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event

ROW = 12


def a_hall(app_server: AppServer, slug: str = "marquee", **event: Any) -> SeatedEvent:
    seats = [{"row": row, "number": place, "seat_id": f"{row}-{place}"} for row in "ABC" for place in range(1, ROW + 1)]
    layout = {"name": "Hall", "zones": [{"name": "Stalls", "zone_type": "reserved_seating", "seats": seats}]}
    seated = a_seated_event(app_server, slug=slug, layout=layout, **event)
    seated.api.post(f"{seated.path}/ticket-types", a_ticket_type(zone=1, entitlement="unlimited_multi_day"))
    return seated


def issue(seated: SeatedEvent, *names: str, **more: Any) -> list[dict[str, Any]]:
    body = more | {"ticket_type": 1, "seats": [{"seat_id": name} for name in names], "override": "asked for by phone"}
    items: list[dict[str, Any]] = seated.api.post(f"{seated.path}/tickets", body)["items"]
    return items


def alerts(seated: SeatedEvent) -> dict[str, Any]:
    return {one["kind"]: one for one in seated.api.get("/api/alerts")["items"]}


def check(app_server: AppServer) -> None:
    """Let the worker check, ten minutes after the last time."""
    app_server.advance(10 * MINUTE)
    for _ in range(4):
        app_server.run_worker()


def test_single_seats_are_an_alert_until_they_are_sold(app_server: AppServer) -> None:
    seated = a_hall(app_server)
    with_gaps = [f"{row}-{place}" for row in "ABC" for place in range(1, ROW + 1) if place not in {2, 5, 8, 11}]
    issue(seated, *with_gaps)
    assert "house_out_of_bounds" not in alerts(seated), "not checked yet"
    check(app_server)
    alert = alerts(seated)["house_out_of_bounds"]
    assert (alert["count"], alert["event_id"], alert["event_name"]) == (1, seated.id, seated.event["name"])
    assert "seating/metrics" in alert["do"]
    since = alert["since"]
    check(app_server)
    assert alerts(seated)["house_out_of_bounds"]["since"] == since, "the alert keeps its date"
    issue(seated, *(f"{row}-{place}" for row in "ABC" for place in (2, 5, 8, 11)))
    check(app_server)
    assert "house_out_of_bounds" not in alerts(seated)


def test_few_sold_seats_raise_no_alert(app_server: AppServer) -> None:
    seated = a_hall(app_server)
    issue(seated, "A-1", "A-3", "A-5", "A-7")
    check(app_server)
    assert alerts(seated) == {}


def test_no_alert_for_cancelled_events_or_other_organisations(app_server: AppServer) -> None:
    seated, rival = a_hall(app_server), a_hall(app_server, "rivals")
    with_gaps = [f"{row}-{place}" for row in "ABC" for place in range(1, ROW + 1) if place not in {2, 5, 8, 11}]
    issue(seated, *with_gaps)
    check(app_server)
    assert "house_out_of_bounds" in alerts(seated) and "house_out_of_bounds" not in alerts(rival)
    seated.api.post(f"{seated.path}/cancel", {"reason": "storm"}, 200)
    assert "house_out_of_bounds" not in alerts(seated)
    check(app_server)
    assert seated.rows("SELECT count(*) FROM seating_figures") == [(0,)]
