"""An event moves to another house: freely while nobody counts on the old one, with consent afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from shared.snapshot import RowKind
from sync_server.holds import inventory
from tests.builders import MINUTE, a_gate, a_venue, a_zone
from tests.contracts.holds.house import a_house
from tests.office import Desk, Evening, Office


@pytest.fixture
def arena(desk: Desk) -> dict[str, Any]:
    """Another house, in another time zone, with gates of its own."""
    words = {"name": "Arena", "slug": "arena", "city": "Lisbon", "timezone": "Europe/Lisbon", "max_capacity": 500}
    venue: dict[str, Any] = desk.post("/api/venues", a_venue(**words))
    for code in ("N", "S"):
        desk.post(f"/api/venues/{venue['id']}/gates", a_gate(code=code))
    return venue


def ask(evening: Evening, arena: dict[str, Any], **more: Any) -> Any:
    return evening.desk.ask("POST", f"{evening.path}/venue", {"venue_id": arena["id"], **more})


def consent(evening: Evening, arena: dict[str, Any]) -> str:
    answer = ask(evening, arena)
    assert (answer.status_code, answer.json["error"]["code"]) == (409, "consent_required")
    return str(answer.json["error"]["details"]["consent"])


def held_gates(office: Office, evening: Evening) -> list[tuple[str, tuple[int, ...]]]:
    return [(gate.code, gate.zones) for gate in office.held_of(evening.number, RowKind.GATE)]


def test_a_draft_moves_freely_and_its_gates_hold_the_new_house(
    office: Office, evening: Evening, arena: dict[str, Any]
) -> None:
    for code in "ABC":
        evening.desk.post(f"/api/venues/{evening.venue['id']}/gates", a_gate(code=code))
    evening.desk.post(f"{evening.path}/zones", a_zone())
    evening.desk.put(f"{evening.path}/gates/1", {"zones": [1]})
    moved = ask(evening, arena)
    assert moved.status_code == 200
    assert {name: moved.json[name] for name in ("venue_name", "city", "timezone", "venue_capacity")} == {
        "venue_name": "Arena",
        "city": "Lisbon",
        "timezone": "Europe/Lisbon",
        "venue_capacity": 500,
    }
    assert moved.json["start_at"] == evening.event["start_at"]  # the same instant, on another clock
    assert held_gates(office, evening) == [("N", ()), ("S", ())]
    assert office.held_of(evening.number, RowKind.EVENT)[0].venue == "Arena"
    office.held(evening.number)  # the digest is right
    assert ask(evening, arena).json["error"]["code"] == "same_venue"


def test_once_tickets_are_sold_the_first_answer_says_what_the_move_means(
    evening: Evening, arena: dict[str, Any]
) -> None:
    evening.issue(count=2)
    evening.desk.post(f"/api/venues/{evening.venue['id']}/gates", a_gate())
    device = evening.desk.post("/api/devices", {"name": "Pi 1"})["id"]
    work = {"event_id": evening.event["id"], "gate": 1}
    evening.desk.put(f"/api/devices/{device}/assignments", {"assignments": [work]})
    answer = ask(evening, arena, reason="flooded")
    assert answer.status_code == 409
    means = answer.json["error"]["details"]["means"]
    assert (means["tickets_issued"], means["gates_that_go"], means["gates_that_come"]) == (2, ["A"], ["N", "S"])
    assert means["devices_choose_gates_anew"] == 1 and means["to_venue"]["timezone"] == "Europe/Lisbon"
    assert evening.desk.get(evening.path)["venue_name"] == "Harbour Hall"


def test_with_consent_and_a_reason_it_is_done_and_everybody_is_told(
    office: Office, evening: Evening, arena: dict[str, Any]
) -> None:
    ticket = evening.ticket()
    evening.desk.post(f"/api/venues/{evening.venue['id']}/gates", a_gate())
    device = evening.desk.post("/api/devices", {"name": "Pi 1"})["id"]
    work = {"event_id": evening.event["id"], "gate": 1}
    evening.desk.put(f"/api/devices/{device}/assignments", {"assignments": [work]})
    token = consent(evening, arena)
    assert ask(evening, arena, consent=token).json["error"]["details"]["field"] == "reason"
    code = evening.code(ticket)
    assert ask(evening, arena, consent=token, reason="flooded").status_code == 200
    assert evening.code(ticket) == code and held_gates(office, evening) == [("N", ()), ("S", ())]
    (assigned,) = evening.desk.get(f"/api/devices/{device}")["assignments"]
    assert (assigned["gate"], assigned["gates_allowed"]) == (None, [1, 2])
    (line,) = [line for line in evening.desk.get("/api/audit?limit=200")["items"] if line["action"] == "event_moved"]
    assert line["reason"] == "flooded" and line["after"]["means"]["tickets_issued"] == 1
    assert (line["before"]["venue_name"], line["after"]["venue_name"]) == ("Harbour Hall", "Arena")


def test_a_layout_stays_behind_while_it_is_free_and_keeps_the_event_while_a_seat_is_held_or_sold(
    office: Office,
) -> None:
    house = a_house(office)
    arena = house.desk.post("/api/venues", a_venue(name="Arena", slug="arena"))
    evening, guest = Evening(house.desk, {}, house.event), house.guest()
    hold = house.reserve(guest, "A-1")["hold_id"]
    for token in (None, "nonsense"):  # no consent helps: the new house has no such seat
        refused = ask(evening, arena, consent=token, reason="flooded").json["error"]
        assert (refused["code"], refused["details"]["means"]["sold_or_held"]) == ("seats_taken", 1)
    house.sell("A-1", holds=(hold,))
    assert ask(evening, arena).json["error"]["code"] == "seats_taken"
    assert house.desk.get(f"{house.path}/layout")["layout_id"]
    with office.database.writing() as session:
        inventory.free(session, house.id, [1], office.now)
    assert ask(evening, arena).json["venue_name"] == "Arena"
    assert house.desk.ask("GET", f"{house.path}/layout").status_code == 404


def test_a_consent_is_for_what_was_told_by_those_who_may_and_for_ten_minutes(
    office: Office, evening: Evening, arena: dict[str, Any]
) -> None:
    evening.ticket()
    token = consent(evening, arena)
    evening.ticket()  # sold meanwhile: not what was agreed to
    assert ask(evening, arena, consent=token, reason="x").json["error"]["code"] == "consent_required"
    token = consent(evening, arena)
    office.advance(10 * MINUTE)
    assert ask(evening, arena, consent=token, reason="x").json["error"]["code"] == "consent_required"
    assert ask(evening, arena, consent="nonsense", reason="x").json["error"]["code"] == "consent_required"
    token = consent(evening, arena)
    staff = Evening(office.desk(organisation_of(office), ["edit_events", "read"]), evening.venue, evening.event)
    assert ask(staff, arena, consent=token, reason="x").status_code == 403
    assert evening.desk.get(evening.path)["venue_name"] == "Harbour Hall"


def organisation_of(office: Office) -> str:
    from sync_server.accounts import queries

    with office.database.reading() as session:
        found = queries.organisation_by_slug(session, "marquee")
        assert found is not None
        return found.id


def test_a_house_that_is_too_small_laid_by_or_somebody_elses_is_no_new_house(
    office: Office, desk: Desk, evening: Evening, arena: dict[str, Any]
) -> None:
    rival = office.desk(office.organisation("rival"))
    foreign = rival.post("/api/venues", a_venue())
    assert ask(evening, foreign).json["error"]["code"] == "venue_not_found"
    evening.issue(count=3)
    desk.patch(f"/api/venues/{arena['id']}", {"max_capacity": 2})
    assert ask(evening, arena).json["error"]["code"] == "capacity_below_issued"
    desk.patch(f"/api/venues/{arena['id']}", {"max_capacity": 100})
    desk.post(f"/api/venues/{arena['id']}/archive", {}, 200)
    assert ask(evening, arena).json["error"]["code"] == "venue_archived"
    desk.post(f"{evening.path}/cancel", {"reason": "rain"}, 200)
    assert ask(evening, arena).json["error"]["code"] == "event_closed"
