"""Events use a layout with their own changes, until seats are sold."""

from __future__ import annotations

from shared.ids import NIL_ID
from shared.wire.snapshot import RowKind
from sync_server.accounts import queries
from tests.app_server import ApiClient, AppServer
from tests.contracts.seating.stage import Stage, a_layout, a_stage, stalls, with_wheelchairs


def test_event_uses_a_version_and_gates_get_its_zones(stage: Stage, app_server: AppServer) -> None:
    view = stage.choose()
    assert (view["layout_version"], view["capacity"], view["frozen"]) == (1, 316, False)
    rows = app_server.gate_rows_of(stage.event["number"], RowKind.ZONE)
    assert [(row.name, row.kind, row.capacity) for row in rows] == [
        ("Stalls", "reserved_seating", None),
        ("Floor", "ga_standing", 300),
    ]
    assert [zone["event_zone"] for zone in view["zones"]] == [row.number for row in rows]


def test_event_blocks_seats_and_closes_or_changes_zones(stage: Stage) -> None:
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


def test_changes_of_an_event_leave_the_layout_untouched(stage: Stage) -> None:
    before = stage.api.get(f"{stage.layouts}/{stage.layout['id']}")
    stage.choose(blocked_seat_ids=["A-1"], disabled_zones=[stage.zone("Floor")])
    assert stage.api.get(f"{stage.layouts}/{stage.layout['id']}") == before


def test_seated_zone_can_become_standing_but_not_the_reverse(stage: Stage) -> None:
    view = stage.choose(zone_overrides={stage.zone("Stalls"): {"zone_type": "ga_standing", "capacity": 40}})
    assert view["capacity"] == 340
    body = stage.choice(zone_overrides={stage.zone("Floor"): {"zone_type": "reserved_seating"}})
    assert stage.api.refused("PUT", stage.path, body) == (400, "invalid_event_layout")


def test_unknown_seats_and_zones_are_refused(stage: Stage) -> None:
    assert stage.api.refused("PUT", stage.path, stage.choice(blocked_seat_ids=["Z-9"])) == (400, "unknown_seat")
    assert stage.api.refused("PUT", stage.path, stage.choice(disabled_zones=[NIL_ID])) == (400, "unknown_zone")


def test_event_cannot_use_a_draft(stage: Stage) -> None:
    stage.layout = stage.api.post(stage.layouts, a_layout())
    assert stage.api.refused("PUT", stage.path, stage.choice()) == (409, "layout_not_active")


def test_event_cannot_use_the_layout_of_another_venue(stage: Stage, app_server: AppServer, api: ApiClient) -> None:
    other = a_stage(app_server, api)
    assert stage.api.refused("PUT", stage.path, other.choice()) == (404, "layout_not_found")


def test_capacity_of_the_event_fits_its_layout(app_server: AppServer, api: ApiClient) -> None:
    stage = a_stage(app_server, api, capacity=317)
    assert stage.api.refused("PUT", stage.path, stage.choice()) == (409, "event_capacity_exceeded")
    stage.api.patch(f"/api/events/{stage.event['id']}", {"capacity": 316})
    assert stage.choose()["capacity"] == 316


def test_first_sale_freezes_version_and_zone_types(stage: Stage) -> None:
    stage.choose()
    stage.sales.sold = True
    second = stage.api.post(f"{stage.layouts}/{stage.layout['id']}/versions", a_layout())
    stage.api.post(f"{stage.layouts}/{second['id']}/activate", status=200)
    assert stage.api.refused("PUT", stage.path, {"layout_id": second["id"]}) == (409, "layout_frozen")
    retyped = stage.choice(zone_overrides={stage.zone("Floor"): {"zone_type": "ga_seated"}})
    assert stage.api.refused("PUT", stage.path, retyped) == (409, "layout_frozen")
    assert stage.api.refused("DELETE", stage.path) == (409, "layout_frozen")
    assert stage.api.get(stage.path)["frozen"] is True


def test_issued_tickets_freeze_the_layout_too(stage: Stage) -> None:
    stage.choose()
    event = f"/api/events/{stage.event['id']}"
    stage.api.post(f"{event}/ticket-types", {"name": "Regular", "price_cents": 3500, "quantity": 100})
    stage.api.post(f"{event}/tickets", {"ticket_type": 1, "count": 1})
    assert stage.api.refused("DELETE", stage.path) == (409, "layout_frozen")


def test_free_seats_can_be_blocked_while_others_are_sold(stage: Stage) -> None:
    stage.choose()
    stage.take(1, 2)
    assert stage.choose(blocked_seat_ids=["A-5"])["zones"][0]["capacity"] == 15
    assert stage.api.refused("PUT", stage.path, stage.choice(blocked_seat_ids=["A-2"])) == (409, "seats_taken")
    closed = stage.choice(disabled_zones=[stage.zone("Stalls")])
    assert stage.api.refused("PUT", stage.path, closed) == (409, "seats_taken")


def test_layout_can_be_removed_while_nothing_is_sold(stage: Stage) -> None:
    stage.choose()
    assert stage.api.ask("DELETE", stage.path).status_code == 204
    assert stage.api.refused("GET", stage.path) == (404, "event_layout_not_found")


def test_event_of_another_organisation_is_not_found(stage: Stage, app_server: AppServer) -> None:
    stage.choose()
    stranger = app_server.api(app_server.organisation("rival"))
    assert stranger.refused("GET", stage.path)[0] == 404
    assert stranger.refused("PUT", stage.path, stage.choice())[0] == 404
    assert stranger.refused("POST", f"{stage.path}/best-seats", {"size": 2})[0] == 404


def test_event_overrides_what_is_not_mandatory(stage: Stage) -> None:
    wish = stage.choice() | {"seating_overrides": {"orphan_avoidance_strict": False, "default_hold_ttl_minutes": 7}}
    view = stage.api.put(stage.path, wish)
    assert (view["policy"]["orphan_avoidance_strict"], view["policy"]["default_hold_ttl_minutes"]) == (False, 7)
    wish["seating_overrides"]["default_hold_ttl_minutes"] = 61
    assert stage.api.refused("PUT", stage.path, wish) == (400, "invalid_request")


def test_override_of_a_mandatory_field_is_refused_with_the_reason(stage: Stage, app_server: AppServer) -> None:
    app_server.user("root@example.org", platform="super_admin")
    root = app_server.browser("root@example.org")
    chosen = {"organisation_id": organisation_of(app_server)}
    root.post("/api/session/organisation", chosen, status=204)
    asked = root.ask("PATCH", "/api/organisation/seating-policy", {"mandatory": ["enforce_accessibility_rules"]})
    assert (asked.status_code, asked.json["error"]["code"]) == (403, "reason_required")
    wished = {"mandatory": ["enforce_accessibility_rules"]}
    done = root.ask("PATCH", "/api/organisation/seating-policy", wished, **{"X-Reason": "required by the authorities"})
    assert done.status_code == 200, done.get_data(as_text=True)
    wish = stage.choice() | {"seating_overrides": {"enforce_accessibility_rules": False}}
    answer = stage.api.ask("PUT", stage.path, wish)
    assert (answer.status_code, answer.json["error"]["code"]) == (403, "override_not_permitted")
    assert "is on at every event" in answer.json["error"]["message"]
    policy = "/api/organisation/seating-policy"
    assert stage.api.refused("PATCH", policy, {"enforce_accessibility_rules": False}) == (403, "mandatory_policy")
    assert stage.api.refused("PATCH", policy, {"mandatory": []}) == (403, "mandatory_policy")


def organisation_of(app_server: AppServer) -> str:
    with app_server.database.reading() as session:
        found = queries.organisation_by_slug(session, "marquee")
    assert found is not None
    return found.id


def test_group_gets_the_best_seats_left(stage: Stage) -> None:
    stage.choose(blocked_seat_ids=["B-8"])
    stage.take(*range(1, 9))
    offer = stage.best(2)
    assert offer["grade"] == "together"
    assert offer["clusters"][0]["seat_ids"][0].startswith("B-")
    assert stage.api.refused("POST", f"{stage.path}/best-seats", {"size": 11}) == (400, "too_many_seats")


def test_customer_who_would_leave_a_single_seat_is_told_where_to_sit(stage: Stage) -> None:
    stage.choose()
    answer = stage.api.ask("POST", f"{stage.path}/picked-seats", {"seat_ids": ["A-2", "A-3"]})
    assert (answer.status_code, answer.json["error"]["code"]) == (409, "leaves_single_seat")
    assert "row A" in answer.json["error"]["details"]["instead"]
    assert stage.pick("A-1", "A-2")["orphans"] == 0


def test_aisle_in_the_drawing_separates_neighbours(app_server: AppServer, api: ApiClient) -> None:
    zone = stalls(rows="A", width=4)
    for seat in zone["seats"][2:]:
        seat["coordinates"]["x"] += 3
    stage = a_stage(app_server, api, a_layout(zones=[zone]))
    stage.choose()
    assert stage.pick("A-2", "A-3", apart=True)["grade"] == "leaves_singles"
    assert stage.api.refused("POST", f"{stage.path}/best-seats", {"size": 3}) == (409, "not_together")


def test_companion_seat_is_reserved_until_the_zone_is_nearly_full(app_server: AppServer, api: ApiClient) -> None:
    stage = a_stage(app_server, api, with_wheelchairs())
    stage.choose()
    place = stage.best(1, wheelchairs=1)
    assert place["clusters"][0]["seat_ids"] == ["A-1"]
    assert place["companion_seats_kept"] == ["A-2"]
    assert stage.pick("A-1", "A-2")["orphans"] == 0
    path = f"{stage.path}/picked-seats"
    assert stage.api.refused("POST", path, {"seat_ids": ["A-2"]}) == (409, "companion_seat_kept")
    stage.take(*range(3, 17))
    assert stage.pick("A-2")["clusters"][0]["seat_ids"] == ["A-2"]


def test_public_is_never_offered_wheelchair_places(app_server: AppServer, api: ApiClient) -> None:
    stage = a_stage(app_server, api, with_wheelchairs())
    stage.choose(disabled_zones=[stage.zone("Floor")])
    stage.take(*range(3, 16))
    assert stage.api.refused("POST", f"{stage.path}/best-seats", {"size": 4})[0] == 409
    assert stage.best(1)["clusters"][0]["seat_ids"] == ["B-8"]


def test_seats_that_were_blocked_or_released_meanwhile(stage: Stage) -> None:
    stage.choose()
    stage.take(*range(1, 15))
    assert stage.best(2)["clusters"][0]["seat_ids"] == ["B-7", "B-8"]
    stage.choose(blocked_seat_ids=["B-7"])
    assert stage.api.refused("POST", f"{stage.path}/best-seats", {"size": 2})[0] == 409
    stage.sales.seats[stage.event["id"]].clear()
    assert stage.best(8)["clusters"][0]["row"] == "A"


def test_policy_that_changed_meanwhile(stage: Stage) -> None:
    stage.choose()
    path = f"{stage.path}/best-seats"
    assert stage.best(9)["grade"] == "clusters"
    stage.api.patch("/api/organisation/seating-policy", {"max_seats_per_booking": 4})
    assert stage.api.refused("POST", path, {"size": 9}) == (400, "too_many_seats")


def test_box_office_may_take_what_the_public_may_not(stage: Stage, app_server: AppServer) -> None:
    stage.choose()
    assert stage.pick("A-2", "A-3", override=True)["orphans"] == 1
    assert stage.best(12, override=True)["grade"] == "clusters"
    stage.take(2)
    taken = {"seat_ids": ["A-2"], "override": True}
    assert stage.api.refused("POST", f"{stage.path}/picked-seats", taken) == (409, "seat_no_longer_available")
    reader = app_server.api(organisation_of(app_server), scopes=["read"])
    assert reader.refused("POST", f"{stage.path}/best-seats", {"size": 2, "override": True}) == (403, "forbidden")
