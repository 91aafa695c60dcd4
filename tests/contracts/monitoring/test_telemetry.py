"""Log lines and counters about events, holds and tickets: with ids, reasons and actors, but without names."""

from __future__ import annotations

import re
from typing import Any

import pytest
from structlog.testing import capture_logs

from sync_server.outbox.broker import joins
from sync_server.outbox.broker.joins import Join
from sync_server.outbox.catalogue import FACTS
from sync_server.plumbing.telemetry import logs
from tests.app_server import AppServer, Concert
from tests.contracts.holds.seated_event import a_seated_event


@pytest.fixture(autouse=True)
def log_info(app_server: AppServer) -> None:
    logs.set_up("info")


def log_lines_of(concert: Concert, path: str, body: dict[str, Any], status: int = 200) -> list[Any]:
    with capture_logs() as lines:
        concert.api.post(f"{concert.path}/{path}", body, status)
    return [line for line in lines if line["event"].startswith("event_")]


@pytest.mark.parametrize(("path", "target"), [("cancel", "cancelled"), ("postpone", "postponed")])
def test_calling_off_is_logged_with_reason_and_actor(concert: Concert, path: str, target: str) -> None:
    concert.api.post(f"{concert.path}/publish", {}, 200)
    actor = concert.api.get("/api/session")
    (line,) = log_lines_of(concert, path, {"reason": "storm"})
    assert line["event"] == f"event_{target}"
    assert (line["old_status"], line["new_status"], line["reason"]) == ("published", target, "storm")
    assert (line["event_id"], line["venue_id"]) == (concert.event["id"], concert.venue["id"])
    assert (line["organisation_id"], line["actor_id"]) == (actor["organisation"]["id"], actor["id"])
    assert line["request_id"]


def test_refused_change_is_not_logged(concert: Concert) -> None:
    assert log_lines_of(concert, "end", {}, 409) == []


def test_log_has_ids_and_no_names(concert: Concert) -> None:
    with capture_logs() as lines:
        concert.api.patch(concert.path, {"name": "Secret Farewell", "description": "for Erika Mustermann"})
    (line,) = [line for line in lines if line["event"] == "event_updated"]
    assert "Farewell" not in str(line) and "Erika" not in str(line)


def test_changes_are_counted_by_fact(app_server: AppServer, concert: Concert) -> None:
    concert.api.post(f"{concert.path}/publish", {}, 200)
    concert.api.post(f"{concert.path}/cancel", {"reason": "storm"}, 200)
    measures = app_server.parts.metrics.text().decode()
    assert 'gatehouse_event_changes_total{fact="event_cancelled"} 1.0' in measures


def lines(app_server: AppServer) -> list[Any]:
    """What the worker logs about the waiting facts."""
    with capture_logs() as logged:
        app_server.run_worker()
    return [line for line in logged if "message_id" in line]


def held(app_server: AppServer, outcome: str) -> float:
    text = app_server.parts.metrics.text().decode()
    found = re.search(rf'gatehouse_holds_total{{became="{outcome}"}} (.+)', text)
    return float(found[1]) if found else 0


def test_holds_are_logged_with_ids_and_counted_by_outcome(app_server: AppServer) -> None:
    seated = a_seated_event(app_server)
    guest = seated.guest()
    app_server.run_worker()
    first = seated.reserve(guest, "A-1")
    seated.reserve(guest, "A-2")
    logged = lines(app_server)
    assert [line["event"] for line in logged] == ["seat_held", "seat_held"]
    ids = {"organisation_id": seated.organisation_id, "event_id": seated.id, "venue_id": seated.event["venue_id"]}
    assert all(ids.items() <= line.items() for line in logged)
    assert (
        logged[0]["hold_id"] == first["hold_id"]
        and logged[0]["held_until"]
        and logged[0]["bearer"].startswith("guest:")
    )
    assert held(app_server, "held") == 2
    seated.api.post(f"{seated.path}/cancel", {"reason": "the singer Erika is ill"}, 200)
    (ended,) = lines(app_server)
    assert (ended["event"], ended["count"]) == ("holds_ended", 2) and ids.items() <= ended.items()
    assert "Erika" not in str(ended)
    assert held(app_server, "ended_with_event") == 2


def test_tickets_are_logged_without_names(app_server: AppServer, concert: Concert) -> None:
    app_server.run_worker()
    ticket = concert.ticket(holder_name="Erika Mustermann", notes="allergic to nuts")
    concert.api.post(f"/api/tickets/{ticket['id']}/cancel", {"reason": "Erika is ill"}, 200)
    issued, cancelled = lines(app_server)
    assert (issued["event"], issued["count"], cancelled["event"]) == ("tickets_issued", 1, "ticket_cancelled")
    assert cancelled["ticket_id"] == ticket["id"]
    assert {line["venue_id"] for line in (issued, cancelled)} == {concert.venue["id"]}
    assert not any(word in f"{issued}{cancelled}" for word in ("Erika", "allergic"))


def test_every_hold_fact_is_logged() -> None:
    """Other facts are logged once somebody has checked what their payload contains."""
    about_holds = [kind for kind in FACTS.values() if kind.outcome or "hold" in kind.subjects]
    assert about_holds and all(kind.logged for kind in about_holds)
    logged = {field for kind in FACTS.values() for field in kind.logged or ()}
    assert not logged & {"holder_name", "email", "name", "note", "notes"}


def test_organisers_see_joins_elsewhere(app_server: AppServer, concert: Concert) -> None:
    assert concert.api.get(concert.path)["joined_elsewhere"] == 0
    with app_server.database.writing() as session:
        for n in range(3):
            joins.count(session, Join(f"m{n}", concert.event["id"], 1), app_server.now)
    assert concert.api.get(concert.path)["joined_elsewhere"] == 3
    assert [one["joined_elsewhere"] for one in concert.api.get("/api/events")["items"]] == [3]
