"""What an event changed about its layout comes along when its guests move, and tickets say what their new zones are."""

from __future__ import annotations

from typing import Any

import pytest

from shared.tickets import ReadTicket, TicketFlags, read
from tests.builders import a_ticket_type
from tests.contracts.seating.stage import Stage, a_layout, a_seat, a_stage, floor, stalls
from tests.contracts.seating.test_moving_guests import next_version, planned, without
from tests.contracts.seating.test_tickets_on_seats import an_evening_on, on, organisation_of
from tests.office import Desk, Evening, Office


def boxes(**changed: Any) -> dict[str, Any]:
    """Two seats in a zone of their own."""
    return {"name": "Boxes", "zone_type": "reserved_seating", "seats": [a_seat("X", n) for n in (1, 2)]} | changed


@pytest.fixture
def stage(office: Office, desk: Desk) -> Stage:
    """A house of stalls, boxes, a balcony and a floor, where VIP zones are allowed."""
    desk.patch("/api/organisation/seating-policy", {"allow_vip_zones": True})
    balcony = {"name": "Balcony", "zone_type": "reserved_seating", "seats": [a_seat("Y", n) for n in range(1, 5)]}
    return a_stage(office, desk, a_layout(zones=[stalls(), boxes(), balcony, floor()]))


def test_what_the_event_changed_comes_along_and_the_rest_is_told(stage: Stage) -> None:
    stage.choose(
        blocked_seat_ids=["A-3", "B-8"],
        disabled_zones=[stage.zone("Balcony")],
        zone_overrides={stage.zone("Floor"): {"capacity": 90}, stage.zone("Boxes"): {"access_mode": "whitelist"}},
        pricing_zones={stage.zone("Stalls"): {"pricing_rule_id": "evening"}},
    )
    evening = an_evening_on(stage)
    evening.issue(**on("A-1"))
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
    assert report["moves"][0]["to_seat"] == "A-2", "nobody is sent to a seat that is blocked"
    planned(stage, layout, fingerprint=report["fingerprint"])
    there = stage.desk.get(stage.path)
    assert there["blocked_seat_ids"] == ["A-3"]
    zones = {zone["name"]: zone for zone in there["zones"]}
    assert zones["Floor"]["capacity"] == 90
    assert zones["Stalls"]["price"]["pricing_rule_id"] == "evening"


def test_what_the_request_says_is_taken_as_it_is_said(stage: Stage) -> None:
    stage.choose(blocked_seat_ids=["A-3"], disabled_zones=[stage.zone("Balcony")])
    an_evening_on(stage).issue(**on("A-1"))
    layout = next_version(stage, stalls(), floor())
    report = planned(stage, layout, overrides={"blocked_seat_ids": []})
    assert "blocked_seat_ids" not in report["came_along"]
    assert [lost["name"] for lost in report["left_behind"]] == ["Balcony"]
    planned(stage, layout, overrides={"blocked_seat_ids": []}, fingerprint=report["fingerprint"])
    assert stage.desk.get(stage.path)["blocked_seat_ids"] == []


def test_a_zone_that_is_of_another_kind_now_leaves_its_old_use_behind(stage: Stage) -> None:
    stage.choose(zone_overrides={stage.zone("Floor"): {"capacity": 90}})
    an_evening_on(stage).issue(**on("A-1"))
    seated = {"name": "Floor", "zone_type": "reserved_seating", "seats": [a_seat("F", n) for n in range(1, 5)]}
    report = planned(stage, next_version(stage, stalls(), seated))
    assert report["left_behind"] == [{"what": "zone_overrides", "name": "Floor", "why": "zone_is_otherwise"}]


def test_what_became_mandatory_stays_behind(stage: Stage, office: Office) -> None:
    own = {"seating_overrides": {"max_group_split": 5, "orphan_avoidance_strict": False}}
    stage.desk.put(stage.path, stage.words() | own, 200)
    an_evening_on(stage).issue(**on("A-1"))
    office.user("root@example.org", platform="super_admin")
    root = office.browser("root@example.org")
    root.post("/api/session/organisation", {"organisation_id": organisation_of(office)}, status=204)
    wished, why = {"mandatory": ["max_group_split"]}, {"X-Reason": "told by the authorities"}
    assert root.ask("PATCH", "/api/organisation/seating-policy", wished, **why).status_code == 200
    layout = next_version(stage, stalls(), floor())
    report = planned(stage, layout)
    assert report["left_behind"] == [{"what": "seating_overrides", "name": "max_group_split", "why": "mandatory"}]
    planned(stage, layout, fingerprint=report["fingerprint"])
    assert stage.desk.get(stage.path)["seating_overrides"] == {"orphan_avoidance_strict": False}


def flags(office: Office, evening: Evening, ticket: dict[str, Any]) -> TicketFlags:
    """What the ticket's newest code says, signed."""
    found = read(evening.code(ticket), office.ring(evening.number))
    assert isinstance(found, ReadTicket)
    return found.ticket.flags


def test_guests_who_leave_the_vip_zone_are_vip_no_more_and_those_who_come_in_are(stage: Stage, office: Office) -> None:
    stage.choose(zone_overrides={stage.zone("Boxes"): {"zone_type": "vip_reserved"}})
    evening = an_evening_on(stage)
    leaves, stays, enters = (evening.issue(**on(seat))["items"][0] for seat in ("X-1", "X-2", "A-1"))
    assert flags(office, evening, leaves) & TicketFlags.VIP and not flags(office, evening, enters)
    lounge = {"name": "Lounge", "zone_type": "vip_reserved", "seats": [a_seat("A", 1), a_seat("A", 2)]}
    one_box = boxes(seats=[a_seat("X", 2)])
    layout = next_version(stage, one_box, without("A-1", "A-2"), lounge, floor())
    report = planned(stage, layout)
    assert report["counts"] | {"move": 1, "stay": 2, "new_codes": 2} == report["counts"]
    planned(stage, layout, fingerprint=report["fingerprint"])
    assert not flags(office, evening, leaves) & TicketFlags.VIP
    assert flags(office, evening, stays) & TicketFlags.VIP
    assert flags(office, evening, enters) & TicketFlags.VIP, "the same chair, in a lounge from now on"
    office.held(evening.number)  # the digest of what gates hold is right


def test_what_the_ticket_type_promises_is_kept_everywhere(stage: Stage, office: Office) -> None:
    stage.choose(zone_overrides={stage.zone("Boxes"): {"zone_type": "vip_reserved"}})
    evening = an_evening_on(stage)
    stage.desk.post(f"{evening.path}/ticket-types", a_ticket_type(name="Patron", flags=["vip"]))
    ticket = evening.issue(ticket_type=2, **on("X-1"))["items"][0]
    layout = next_version(stage, stalls(), boxes(seats=[a_seat("X", 2)]), floor())
    overrides = {"zone_overrides": {}}
    report = planned(stage, layout, overrides=overrides)
    planned(stage, layout, overrides=overrides, fingerprint=report["fingerprint"])
    assert flags(office, evening, ticket) & TicketFlags.VIP
