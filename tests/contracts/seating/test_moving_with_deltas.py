"""Overrides of an event are carried over when its guests move, and tickets get the flags of their new zones."""

from __future__ import annotations

from typing import Any

import pytest

from shared.tickets import ReadTicket, TicketFlags, read
from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import a_ticket_type
from tests.contracts.seating.stage import Stage, a_layout, a_seat, a_stage, floor, stalls
from tests.contracts.seating.test_moving_guests import next_version, planned, without
from tests.contracts.seating.test_tickets_on_seats import an_evening_on, on, organisation_of


def boxes(**changed: Any) -> dict[str, Any]:
    """Two seats in a zone of their own."""
    return {"name": "Boxes", "zone_type": "reserved_seating", "seats": [a_seat("X", n) for n in (1, 2)]} | changed


@pytest.fixture
def stage(app_server: AppServer, api: ApiClient) -> Stage:
    """A layout of stalls, boxes, a balcony and a floor, where VIP zones are allowed."""
    api.patch("/api/organisation/seating-policy", {"allow_vip_zones": True})
    balcony = {"name": "Balcony", "zone_type": "reserved_seating", "seats": [a_seat("Y", n) for n in range(1, 5)]}
    return a_stage(app_server, api, a_layout(zones=[stalls(), boxes(), balcony, floor()]))


def test_overrides_are_carried_over_and_the_rest_is_listed(stage: Stage) -> None:
    stage.choose(
        blocked_seat_ids=["A-3", "B-8"],
        disabled_zones=[stage.zone("Balcony")],
        zone_overrides={stage.zone("Floor"): {"capacity": 90}, stage.zone("Boxes"): {"access_mode": "whitelist"}},
        pricing_zones={stage.zone("Stalls"): {"pricing_rule_id": "concert"}},
    )
    concert = an_evening_on(stage)
    concert.issue(**on("A-1"))
    layout = next_version(stage, floor(), without("A-1", "B-8"))
    report = planned(stage, layout)
    assert report["came_along"] == {
        "blocked_seat_ids": 1,
        "disabled_zones": 0,
        "zone_overrides": 1,
        "pricing_zones": 1,
        "seating_overrides": 0,
    }
    assert report["left_behind"] == [
        {"what": "blocked_seat_ids", "name": "B-8", "why": "no_such_seat"},
        {"what": "disabled_zones", "name": "Balcony", "why": "no_such_zone"},
        {"what": "zone_overrides", "name": "Boxes", "why": "no_such_zone"},
    ]
    assert report["moves"][0]["to_seat"] == "A-2", "nobody gets a blocked seat"
    planned(stage, layout, fingerprint=report["fingerprint"])
    there = stage.api.get(stage.path)
    assert there["blocked_seat_ids"] == ["A-3"]
    zones = {zone["name"]: zone for zone in there["zones"]}
    assert zones["Floor"]["capacity"] == 90
    assert zones["Stalls"]["price"]["pricing_rule_id"] == "concert"


def test_parts_given_in_the_request_are_not_carried_over(stage: Stage) -> None:
    stage.choose(blocked_seat_ids=["A-3"], disabled_zones=[stage.zone("Balcony")])
    an_evening_on(stage).issue(**on("A-1"))
    layout = next_version(stage, stalls(), floor())
    report = planned(stage, layout, overrides={"blocked_seat_ids": []})
    assert "blocked_seat_ids" not in report["came_along"]
    assert [lost["name"] for lost in report["left_behind"]] == ["Balcony"]
    planned(stage, layout, overrides={"blocked_seat_ids": []}, fingerprint=report["fingerprint"])
    assert stage.api.get(stage.path)["blocked_seat_ids"] == []


def test_override_is_left_behind_if_the_zone_type_changed(stage: Stage) -> None:
    stage.choose(zone_overrides={stage.zone("Floor"): {"capacity": 90}})
    an_evening_on(stage).issue(**on("A-1"))
    seated = {"name": "Floor", "zone_type": "reserved_seating", "seats": [a_seat("F", n) for n in range(1, 5)]}
    report = planned(stage, next_version(stage, stalls(), seated))
    assert report["left_behind"] == [{"what": "zone_overrides", "name": "Floor", "why": "zone_is_otherwise"}]


def test_override_is_left_behind_if_it_became_mandatory(stage: Stage, app_server: AppServer) -> None:
    own = {"seating_overrides": {"max_group_split": 5, "orphan_avoidance_strict": False}}
    stage.api.put(stage.path, stage.choice() | own, 200)
    an_evening_on(stage).issue(**on("A-1"))
    app_server.user("root@example.org", platform="super_admin")
    root = app_server.browser("root@example.org")
    root.post("/api/session/organisation", {"organisation_id": organisation_of(app_server)}, status=204)
    wished, why = {"mandatory": ["max_group_split"]}, {"X-Reason": "required by the authorities"}
    assert root.ask("PATCH", "/api/organisation/seating-policy", wished, **why).status_code == 200
    layout = next_version(stage, stalls(), floor())
    report = planned(stage, layout)
    assert report["left_behind"] == [{"what": "seating_overrides", "name": "max_group_split", "why": "mandatory"}]
    planned(stage, layout, fingerprint=report["fingerprint"])
    assert stage.api.get(stage.path)["seating_overrides"] == {"orphan_avoidance_strict": False}


def flags(app_server: AppServer, concert: Concert, ticket: dict[str, Any]) -> TicketFlags:
    """The flags in the newest code of the ticket."""
    found = read(concert.code(ticket), app_server.key_ring(concert.number))
    assert isinstance(found, ReadTicket)
    return found.ticket.flags


def test_vip_flag_follows_the_new_zone(stage: Stage, app_server: AppServer) -> None:
    stage.choose(zone_overrides={stage.zone("Boxes"): {"zone_type": "vip_reserved"}})
    concert = an_evening_on(stage)
    leaves, stays, enters = (concert.issue(**on(seat))["items"][0] for seat in ("X-1", "X-2", "A-1"))
    assert flags(app_server, concert, leaves) & TicketFlags.VIP and not flags(app_server, concert, enters)
    lounge = {"name": "Lounge", "zone_type": "vip_reserved", "seats": [a_seat("A", 1), a_seat("A", 2)]}
    one_box = boxes(seats=[a_seat("X", 2)])
    layout = next_version(stage, one_box, without("A-1", "A-2"), lounge, floor())
    report = planned(stage, layout)
    assert report["counts"] | {"move": 1, "stay": 2, "new_codes": 2} == report["counts"]
    planned(stage, layout, fingerprint=report["fingerprint"])
    assert not flags(app_server, concert, leaves) & TicketFlags.VIP
    assert flags(app_server, concert, stays) & TicketFlags.VIP
    assert flags(app_server, concert, enters) & TicketFlags.VIP, "the same seat, now in a lounge"
    app_server.gate_rows(concert.number)  # checks the digest


def test_flags_of_the_ticket_type_stay(stage: Stage, app_server: AppServer) -> None:
    stage.choose(zone_overrides={stage.zone("Boxes"): {"zone_type": "vip_reserved"}})
    concert = an_evening_on(stage)
    stage.api.post(f"{concert.path}/ticket-types", a_ticket_type(name="Patron", flags=["vip"]))
    ticket = concert.issue(ticket_type=2, **on("X-1"))["items"][0]
    layout = next_version(stage, stalls(), boxes(seats=[a_seat("X", 2)]), floor())
    overrides = {"zone_overrides": {}}
    report = planned(stage, layout, overrides=overrides)
    planned(stage, layout, overrides=overrides, fingerprint=report["fingerprint"])
    assert flags(app_server, concert, ticket) & TicketFlags.VIP
