"""Events use a layout in their own way, until seats are sold."""

from __future__ import annotations

from shared.snapshot import RowKind
from sync_server.accounts import queries
from tests.contracts.seating.stage import Stage, a_layout, a_stage, stalls, with_wheelchairs
from tests.office import Desk, Office


def test_event_uses_a_version_and_gates_hear_of_its_zones(stage: Stage, office: Office) -> None:
    view = stage.choose()
    assert (view["layout_version"], view["capacity"], view["frozen"]) == (1, 316, False)
    rows = office.held_of(stage.event["number"], RowKind.ZONE)
    assert [(row.name, row.kind, row.capacity) for row in rows] == [
        ("Stalls", "reserved_seating", None),
        ("Floor", "ga_standing", 300),
    ]
    assert [zone["event_zone"] for zone in view["zones"]] == [row.number for row in rows]


def test_event_blocks_seats_closes_zones_and_uses_others_otherwise(stage: Stage) -> None:
    view = stage.choose(
        blocked_seat_ids=["A-1", "A-2"],
        zone_overrides={stage.zone("Floor"): {"zone_type": "ga_seated", "capacity": 120}},
        pricing_zones={stage.zone("Stalls"): {"ticket_types": [1, 2]}},
    )
    assert [(zone["name"], zone["zone_type"], zone["capacity"]) for zone in view["zones"]] == [
        ("Stalls", "reserved_seating", 14),
        ("Floor", "ga_seated", 120),
    ]
    assert view["blocked_seat_ids"] == ["A-1", "A-2"]
    assert view["zones"][0]["price"] == {"ticket_types": [1, 2]}
    view = stage.choose(disabled_zones=[stage.zone("Floor")])
    assert ([zone["name"] for zone in view["zones"]], view["capacity"]) == (["Stalls"], 16)


def test_layout_itself_is_not_touched_by_what_an_event_changes(stage: Stage) -> None:
    before = stage.desk.get(f"{stage.layouts}/{stage.layout['id']}")
    stage.choose(blocked_seat_ids=["A-1"], disabled_zones=[stage.zone("Floor")])
    assert stage.desk.get(f"{stage.layouts}/{stage.layout['id']}") == before


def test_seats_become_a_standing_zone_but_never_the_other_way_round(stage: Stage) -> None:
    view = stage.choose(zone_overrides={stage.zone("Stalls"): {"zone_type": "ga_standing", "capacity": 40}})
    assert view["capacity"] == 340
    words = stage.words(zone_overrides={stage.zone("Floor"): {"zone_type": "reserved_seating"}})
    assert stage.desk.refused("PUT", stage.path, words) == (400, "invalid_event_layout")


def test_unknown_seats_and_zones_are_named(stage: Stage) -> None:
    assert stage.desk.refused("PUT", stage.path, stage.words(blocked_seat_ids=["Z-9"])) == (400, "unknown_seat")
    assert stage.desk.refused("PUT", stage.path, stage.words(disabled_zones=["nowhere"])) == (400, "unknown_zone")


def test_draft_is_for_drawing_not_for_selling(stage: Stage) -> None:
    stage.layout = stage.desk.post(stage.layouts, a_layout())
    assert stage.desk.refused("PUT", stage.path, stage.words()) == (409, "layout_not_active")


def test_layout_of_another_venue_is_no_layout_of_this_event(stage: Stage, office: Office, desk: Desk) -> None:
    other = a_stage(office, desk)
    assert stage.desk.refused("PUT", stage.path, other.words()) == (404, "layout_not_found")


def test_event_sells_no_more_than_its_layout_holds(office: Office, desk: Desk) -> None:
    stage = a_stage(office, desk, capacity=317)
    assert stage.desk.refused("PUT", stage.path, stage.words()) == (409, "event_capacity_exceeded")
    stage.desk.patch(f"/api/events/{stage.event['id']}", {"capacity": 316})
    assert stage.choose()["capacity"] == 316


def test_first_sale_freezes_version_and_zone_types(stage: Stage) -> None:
    stage.choose()
    stage.box_office.sold = True
    second = stage.desk.post(f"{stage.layouts}/{stage.layout['id']}/versions", a_layout())
    stage.desk.post(f"{stage.layouts}/{second['id']}/activate", status=200)
    assert stage.desk.refused("PUT", stage.path, {"layout_id": second["id"]}) == (409, "layout_frozen")
    retyped = stage.words(zone_overrides={stage.zone("Floor"): {"zone_type": "ga_seated"}})
    assert stage.desk.refused("PUT", stage.path, retyped) == (409, "layout_frozen")
    assert stage.desk.refused("DELETE", stage.path) == (409, "layout_frozen")
    assert stage.desk.get(stage.path)["frozen"] is True


def test_issued_tickets_freeze_the_layout_too(stage: Stage) -> None:
    stage.choose()
    event = f"/api/events/{stage.event['id']}"
    stage.desk.post(f"{event}/ticket-types", {"name": "Regular", "price_cents": 3500, "quantity": 100})
    stage.desk.post(f"{event}/tickets", {"ticket_type": 1, "count": 1})
    assert stage.desk.refused("DELETE", stage.path) == (409, "layout_frozen")


def test_seats_that_are_free_are_blocked_even_while_others_are_sold(stage: Stage) -> None:
    stage.choose()
    stage.take(1, 2)
    assert stage.choose(blocked_seat_ids=["A-5"])["zones"][0]["capacity"] == 15
    assert stage.desk.refused("PUT", stage.path, stage.words(blocked_seat_ids=["A-2"])) == (409, "seats_taken")
    closed = stage.words(disabled_zones=[stage.zone("Stalls")])
    assert stage.desk.refused("PUT", stage.path, closed) == (409, "seats_taken")


def test_event_goes_without_a_layout_again_while_nothing_is_sold(stage: Stage) -> None:
    stage.choose()
    assert stage.desk.ask("DELETE", stage.path).status_code == 204
    assert stage.desk.refused("GET", stage.path) == (404, "event_layout_not_found")


def test_event_of_another_organisation_is_not_found(stage: Stage, office: Office) -> None:
    stage.choose()
    stranger = office.desk(office.organisation("rival"))
    assert stranger.refused("GET", stage.path)[0] == 404
    assert stranger.refused("PUT", stage.path, stage.words())[0] == 404
    assert stranger.refused("POST", f"{stage.path}/best-seats", {"size": 2})[0] == 404


def test_event_decides_for_itself_what_is_not_mandatory(stage: Stage) -> None:
    wish = stage.words() | {"seating_overrides": {"orphan_avoidance_strict": False, "default_hold_ttl_minutes": 7}}
    view = stage.desk.put(stage.path, wish)
    assert (view["policy"]["orphan_avoidance_strict"], view["policy"]["default_hold_ttl_minutes"]) == (False, 7)
    wish["seating_overrides"]["default_hold_ttl_minutes"] = 61
    assert stage.desk.refused("PUT", stage.path, wish) == (400, "invalid_request")


def test_mandatory_field_is_refused_with_words(stage: Stage, office: Office) -> None:
    office.user("root@example.org", platform="super_admin")
    root = office.browser("root@example.org")
    chosen = {"organisation_id": organisation_of(office)}
    root.post("/api/session/organisation", chosen, status=204)
    asked = root.ask("PATCH", "/api/organisation/seating-policy", {"mandatory": ["enforce_accessibility_rules"]})
    assert (asked.status_code, asked.json["error"]["code"]) == (403, "reason_required")
    wished = {"mandatory": ["enforce_accessibility_rules"]}
    done = root.ask("PATCH", "/api/organisation/seating-policy", wished, **{"X-Reason": "told by the authorities"})
    assert done.status_code == 200, done.get_data(as_text=True)
    wish = stage.words() | {"seating_overrides": {"enforce_accessibility_rules": False}}
    answer = stage.desk.ask("PUT", stage.path, wish)
    assert (answer.status_code, answer.json["error"]["code"]) == (403, "override_not_permitted")
    assert "stays on at every event" in answer.json["error"]["message"]
    policy = "/api/organisation/seating-policy"
    assert stage.desk.refused("PATCH", policy, {"enforce_accessibility_rules": False}) == (403, "mandatory_policy")
    assert stage.desk.refused("PATCH", policy, {"mandatory": []}) == (403, "mandatory_policy")


def organisation_of(office: Office) -> str:
    with office.database.reading() as session:
        found = queries.organisation_by_slug(session, "marquee")
    assert found is not None
    return found.id


def test_party_gets_the_best_seats_that_are_left(stage: Stage) -> None:
    stage.choose(blocked_seat_ids=["B-8"])
    stage.take(*range(1, 9))
    offer = stage.best(2)
    assert offer["grade"] == "together"
    assert offer["clusters"][0]["seat_ids"][0].startswith("B-")
    assert stage.desk.refused("POST", f"{stage.path}/best-seats", {"size": 11}) == (400, "too_many_seats")


def test_customer_who_would_leave_a_single_seat_is_told_where_to_sit(stage: Stage) -> None:
    stage.choose()
    answer = stage.desk.ask("POST", f"{stage.path}/picked-seats", {"seat_ids": ["A-2", "A-3"]})
    assert (answer.status_code, answer.json["error"]["code"]) == (409, "leaves_single_seat")
    assert "row A" in answer.json["error"]["details"]["instead"]
    assert stage.pick("A-1", "A-2")["orphans"] == 0


def test_aisle_in_the_drawing_parts_neighbours(office: Office, desk: Desk) -> None:
    zone = stalls(rows="A", width=4)
    for seat in zone["seats"][2:]:
        seat["coordinates"]["x"] += 3
    stage = a_stage(office, desk, a_layout(zones=[zone]))
    stage.choose()
    assert stage.pick("A-2", "A-3", apart=True)["grade"] == "leaves_singles"
    assert stage.desk.refused("POST", f"{stage.path}/best-seats", {"size": 3}) == (409, "not_together")


def test_companion_seat_is_kept_until_the_zone_is_nearly_full(office: Office, desk: Desk) -> None:
    stage = a_stage(office, desk, with_wheelchairs())
    stage.choose()
    place = stage.best(1, wheelchairs=1)
    assert place["clusters"][0]["seat_ids"] == ["A-1"]
    assert place["companion_seats_kept"] == ["A-2"]
    assert stage.pick("A-1", "A-2")["orphans"] == 0
    path = f"{stage.path}/picked-seats"
    assert stage.desk.refused("POST", path, {"seat_ids": ["A-2"]}) == (409, "companion_seat_kept")
    stage.take(*range(3, 17))
    assert stage.pick("A-2")["clusters"][0]["seat_ids"] == ["A-2"]


def test_best_seats_of_the_public_are_never_wheelchair_places(office: Office, desk: Desk) -> None:
    stage = a_stage(office, desk, with_wheelchairs())
    stage.choose(disabled_zones=[stage.zone("Floor")])
    stage.take(*range(3, 16))
    assert stage.desk.refused("POST", f"{stage.path}/best-seats", {"size": 4})[0] == 409
    assert stage.best(1)["clusters"][0]["seat_ids"] == ["B-8"]


def test_seats_that_were_blocked_or_returned_meanwhile(stage: Stage) -> None:
    stage.choose()
    stage.take(*range(1, 15))
    assert stage.best(2)["clusters"][0]["seat_ids"] == ["B-7", "B-8"]
    stage.choose(blocked_seat_ids=["B-7"])
    assert stage.desk.refused("POST", f"{stage.path}/best-seats", {"size": 2})[0] == 409
    stage.box_office.seats.clear()
    assert stage.best(8)["clusters"][0]["row"] == "A"


def test_policy_that_changed_meanwhile(stage: Stage) -> None:
    stage.choose()
    path = f"{stage.path}/best-seats"
    assert stage.best(9)["grade"] == "clusters"
    stage.desk.patch("/api/organisation/seating-policy", {"max_seats_per_booking": 4})
    assert stage.desk.refused("POST", path, {"size": 9}) == (400, "too_many_seats")


def test_box_office_takes_what_the_public_may_not(stage: Stage, office: Office) -> None:
    stage.choose()
    assert stage.pick("A-2", "A-3", override=True)["orphans"] == 1
    assert stage.best(12, override=True)["grade"] == "clusters"
    stage.take(2)
    taken = {"seat_ids": ["A-2"], "override": True}
    assert stage.desk.refused("POST", f"{stage.path}/picked-seats", taken) == (409, "seat_no_longer_available")
    reader = office.desk(organisation_of(office), scopes=["read"])
    assert reader.refused("POST", f"{stage.path}/best-seats", {"size": 2, "override": True}) == (403, "forbidden")
