"""Cancelling an event says how many guests it concerns, and ends the tickets for which nothing was paid."""

from __future__ import annotations

from typing import Any

import pytest

from shared.wire.snapshot import RowKind, TicketState
from sync_server.tickets.event_changes import cancelled_events
from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.builders import MINUTE, a_ticket_type
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event


def states(concert: Concert) -> dict[str, int]:
    found: dict[str, int] = {}
    for ticket in concert.api.get(f"{concert.path}/tickets?limit=200")["items"]:
        found[ticket["state"]] = found.get(ticket["state"], 0) + 1
    return found


@pytest.fixture
def mixed(api: ApiClient) -> Concert:
    """Three paid tickets, and four that cost nothing."""
    concert = a_concert(api)
    api.post(f"{concert.path}/ticket-types", a_ticket_type(name="Guest list", price_cents=0))
    concert.issue(count=3)
    concert.issue(count=4, ticket_type=2)
    api.post(f"{concert.path}/publish", {}, 200)
    return concert


def test_free_tickets_end_with_the_event_and_paid_ones_wait_for_their_refund(
    app_server: AppServer, mixed: Concert
) -> None:
    answer = mixed.api.post(f"{mixed.path}/cancel", {"reason": "storm"}, 200)
    assert (answer["tickets_affected"], answer["tickets_issued"]) == (7, 3)
    assert states(mixed) == {"valid": 3, "cancelled": 4}
    rows = app_server.gate_rows_of(mixed.number, RowKind.TICKET)
    assert sorted(row.state for row in rows) == [TicketState.VALID] * 3 + [TicketState.CANCELLED] * 4
    (line,) = mixed.api.get("/api/audit?action=event_cancelled")["items"]
    assert line["after"]["tickets_issued"] == 7
    ended = mixed.api.get("/api/audit?action=ticket_cancelled")["items"]
    assert {(one["actor_kind"], one["reason"]) for one in ended} == {
        ("system", "the event was cancelled, and nothing was paid")
    }


def test_a_postponement_ends_no_ticket_but_says_how_many_guests_wait(mixed: Concert) -> None:
    answer = mixed.api.post(f"{mixed.path}/postpone", {"reason": "storm"}, 200)
    assert (answer["tickets_affected"], states(mixed)) == (7, {"valid": 7})
    assert mixed.api.get(mixed.path)["tickets_affected"] is None


def test_the_worker_ends_what_is_too_much_for_one_transaction(
    app_server: AppServer, mixed: Concert, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cancelled_events, "PIECE", 3)
    mixed.api.post(f"{mixed.path}/cancel", {"reason": "storm"}, 200)
    assert states(mixed) == {"valid": 4, "cancelled": 3}
    for _ in range(3):
        app_server.advance(MINUTE)
        app_server.run_worker()
    assert states(mixed) == {"valid": 3, "cancelled": 4}
    with app_server.database.reading() as session:
        assert not cancelled_events.job().due(session, app_server.now)  # type: ignore[misc]


def test_seats_of_free_tickets_are_free_again(app_server: AppServer) -> None:
    seated: SeatedEvent = a_seated_event(app_server)
    free: dict[str, Any] = a_ticket_type(name="Guest list", price_cents=0)
    number = seated.api.post(f"{seated.path}/ticket-types", free)["number"]
    seated.api.post(f"{seated.path}/tickets", {"ticket_type": number, "seats": [{"seat_id": "A-1"}]})
    seated.api.post(f"{seated.path}/cancel", {"reason": "storm"}, 200)
    assert seated.states() == {"A-1": 0}


def test_an_event_with_a_new_date_is_not_called_off(mixed: Concert, app_server: AppServer) -> None:
    mixed.api.post(f"{mixed.path}/postpone", {"reason": "storm"}, 200)
    kinds = [one["kind"] for one in mixed.api.get("/api/alerts")["items"]]
    assert kinds == ["tickets_on_called_off_event"]
    mixed.api.post(f"{mixed.path}/reschedule", {"rescheduled_at": app_server.now + 40 * 24 * 60 * MINUTE}, 200)
    assert mixed.api.get("/api/alerts")["items"] == []
