"""Moving an event to another venue: freely before sales, with consent afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from shared.wire.snapshot import RowKind
from sync_server.holds.selling import inventory
from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import MINUTE, a_gate, a_venue, a_zone
from tests.contracts.holds.seated_event import a_seated_event


@pytest.fixture
def arena(api: ApiClient) -> dict[str, Any]:
    """Another venue, in another time zone, with its own gates."""
    words = {"name": "Arena", "slug": "arena", "city": "Lisbon", "timezone": "Europe/Lisbon", "max_capacity": 500}
    venue: dict[str, Any] = api.post("/api/venues", a_venue(**words))
    for code in ("N", "S"):
        api.post(f"/api/venues/{venue['id']}/gates", a_gate(code=code))
    return venue


def ask(concert: Concert, arena: dict[str, Any], **more: Any) -> Any:
    return concert.api.ask("POST", f"{concert.path}/venue", {"venue_id": arena["id"], **more})


def consent(concert: Concert, arena: dict[str, Any]) -> str:
    answer = ask(concert, arena)
    assert (answer.status_code, answer.json["error"]["code"]) == (409, "consent_required")
    return str(answer.json["error"]["details"]["consent"])


def held_gates(app_server: AppServer, concert: Concert) -> list[tuple[str, tuple[int, ...]]]:
    return [(gate.code, gate.zones) for gate in app_server.gate_rows_of(concert.number, RowKind.GATE)]


def test_a_draft_moves_freely_and_its_gates_get_the_new_venue(
    app_server: AppServer, concert: Concert, arena: dict[str, Any]
) -> None:
    for code in "ABC":
        concert.api.post(f"/api/venues/{concert.venue['id']}/gates", a_gate(code=code))
    concert.api.post(f"{concert.path}/zones", a_zone())
    concert.api.put(f"{concert.path}/gates/1", {"zones": [1]})
    moved = ask(concert, arena)
    assert moved.status_code == 200
    assert {name: moved.json[name] for name in ("venue_name", "city", "timezone", "venue_capacity")} == {
        "venue_name": "Arena",
        "city": "Lisbon",
        "timezone": "Europe/Lisbon",
        "venue_capacity": 500,
    }
    assert moved.json["start_at"] == concert.event["start_at"]  # the same instant, on another clock
    assert held_gates(app_server, concert) == [("N", ()), ("S", ())]
    assert app_server.gate_rows_of(concert.number, RowKind.EVENT)[0].venue == "Arena"
    app_server.gate_rows(concert.number)  # the digest is right
    assert ask(concert, arena).json["error"]["code"] == "same_venue"


def test_once_tickets_are_sold_the_first_response_lists_the_consequences(
    concert: Concert, arena: dict[str, Any]
) -> None:
    concert.issue(count=2)
    concert.api.post(f"/api/venues/{concert.venue['id']}/gates", a_gate())
    device = concert.api.post("/api/devices", {"name": "Pi 1"})["id"]
    work = {"event_id": concert.event["id"], "gate": 1}
    concert.api.put(f"/api/devices/{device}/assignments", {"assignments": [work]})
    answer = ask(concert, arena, reason="flooded")
    assert answer.status_code == 409
    means = answer.json["error"]["details"]["means"]
    assert (means["tickets_issued"], means["gates_that_go"], means["gates_that_come"]) == (2, ["A"], ["N", "S"])
    assert means["devices_choose_gates_anew"] == 1 and means["to_venue"]["timezone"] == "Europe/Lisbon"
    assert concert.api.get(concert.path)["venue_name"] == "Harbour Hall"


def test_with_consent_and_a_reason_the_event_moves(
    app_server: AppServer, concert: Concert, arena: dict[str, Any]
) -> None:
    ticket = concert.ticket()
    concert.api.post(f"/api/venues/{concert.venue['id']}/gates", a_gate())
    device = concert.api.post("/api/devices", {"name": "Pi 1"})["id"]
    work = {"event_id": concert.event["id"], "gate": 1}
    concert.api.put(f"/api/devices/{device}/assignments", {"assignments": [work]})
    token = consent(concert, arena)
    assert ask(concert, arena, consent=token).json["error"]["details"]["field"] == "reason"
    code = concert.code(ticket)
    assert ask(concert, arena, consent=token, reason="flooded").status_code == 200
    assert concert.code(ticket) == code and held_gates(app_server, concert) == [("N", ()), ("S", ())]
    (assigned,) = concert.api.get(f"/api/devices/{device}")["assignments"]
    assert (assigned["gate"], assigned["gates_allowed"]) == (None, [1, 2])
    (line,) = [line for line in concert.api.get("/api/audit?limit=200")["items"] if line["action"] == "event_moved"]
    assert line["reason"] == "flooded" and line["after"]["means"]["tickets_issued"] == 1
    assert (line["before"]["venue_name"], line["after"]["venue_name"]) == ("Harbour Hall", "Arena")


def test_a_move_drops_a_free_layout_and_is_refused_while_a_seat_is_held_or_sold(
    app_server: AppServer,
) -> None:
    sale = a_seated_event(app_server)
    arena = sale.api.post("/api/venues", a_venue(name="Arena", slug="arena"))
    concert, guest = Concert(sale.api, {}, sale.event), sale.guest()
    hold = sale.reserve(guest, "A-1")["hold_id"]
    for token in (None, "nonsense"):  # consent does not help: the new venue has no such seat
        refused = ask(concert, arena, consent=token, reason="flooded").json["error"]
        assert (refused["code"], refused["details"]["means"]["sold_or_held"]) == ("seats_taken", 1)
    sale.sell("A-1", holds=(hold,))
    assert ask(concert, arena).json["error"]["code"] == "seats_taken"
    assert sale.api.get(f"{sale.path}/layout")["layout_id"]
    with app_server.database.writing() as session:
        inventory.free(session, sale.organisation_id, sale.id, [1])
    assert ask(concert, arena).json["venue_name"] == "Arena"
    assert sale.api.ask("GET", f"{sale.path}/layout").status_code == 404


def test_consent_covers_what_was_shown_for_ten_minutes_and_needs_permission(
    app_server: AppServer, concert: Concert, arena: dict[str, Any]
) -> None:
    concert.ticket()
    token = consent(concert, arena)
    concert.ticket()  # sold meanwhile: not what was agreed to
    assert ask(concert, arena, consent=token, reason="x").json["error"]["code"] == "consent_required"
    token = consent(concert, arena)
    app_server.advance(10 * MINUTE)
    assert ask(concert, arena, consent=token, reason="x").json["error"]["code"] == "consent_required"
    assert ask(concert, arena, consent="nonsense", reason="x").json["error"]["code"] == "consent_required"
    token = consent(concert, arena)
    staff = Concert(app_server.api(organisation_of(app_server), ["edit_events", "read"]), concert.venue, concert.event)
    assert ask(staff, arena, consent=token, reason="x").status_code == 403
    assert concert.api.get(concert.path)["venue_name"] == "Harbour Hall"


def organisation_of(app_server: AppServer) -> str:
    from sync_server.accounts import queries

    with app_server.database.reading() as session:
        found = queries.organisation_by_slug(session, "marquee")
        assert found is not None
        return found.id


def test_no_move_to_a_venue_that_is_too_small_archived_or_of_another_organisation(
    app_server: AppServer, api: ApiClient, concert: Concert, arena: dict[str, Any]
) -> None:
    rival = app_server.api(app_server.organisation("rival"))
    foreign = rival.post("/api/venues", a_venue())
    assert ask(concert, foreign).json["error"]["code"] == "venue_not_found"
    concert.issue(count=3)
    api.patch(f"/api/venues/{arena['id']}", {"max_capacity": 2})
    assert ask(concert, arena).json["error"]["code"] == "capacity_below_issued"
    api.patch(f"/api/venues/{arena['id']}", {"max_capacity": 100})
    api.post(f"/api/venues/{arena['id']}/archive", {}, 200)
    assert ask(concert, arena).json["error"]["code"] == "venue_archived"
    api.post(f"{concert.path}/cancel", {"reason": "rain"}, 200)
    assert ask(concert, arena).json["error"]["code"] == "event_closed"
