"""Organisers create layouts, add versions of them and import files."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from tests.app_server import ApiClient, AppServer
from tests.contracts.seating.stage import Stage, a_layout, a_seat, floor, stalls, with_wheelchairs


def problems(answer: Any) -> dict[str, str]:
    listed = answer.json["error"]["details"]["mistakes"]
    return {each["place"]: each["problem"] for each in listed}


def test_layout_is_returned_as_uploaded(stage: Stage) -> None:
    there = stage.api.get(f"{stage.layouts}/{stage.layout['id']}")
    assert (there["status"], there["version"], there["total_capacity"]) == ("active", 1, 316)
    sent, stored = a_layout()["zones"][0]["seats"], there["layout"]["zones"][0]["seats"]
    assert [(seat["seat_id"], seat["coordinates"]) for seat in stored] == [
        (seat["seat_id"], seat["coordinates"]) for seat in sent
    ]
    assert stage.api.put(f"{stage.layouts}/{make(stage, a_layout())['id']}", there["layout"])


def make(stage: Stage, layout: dict[str, Any]) -> Any:
    return stage.api.post(stage.layouts, layout)


def test_every_mistake_is_listed_with_its_place_and_nothing_is_saved(stage: Stage) -> None:
    zone = stalls(seats=[a_seat("A", 1), a_seat("A", 1), a_seat("A", 2, category="companion")], capacity=5)
    answer = stage.api.ask("POST", stage.layouts, a_layout(zones=[zone, floor(), floor(capacity=1)]))
    assert answer.status_code == 400
    assert set(problems(answer)) == {
        "zones",
        "zones[0].capacity",
        "zones[0].seats[0].number",
        "zones[0].seats[1].seat_id",
        "zones[0].seats[2].companion_seat_id",
    }
    assert len(stage.api.get(stage.layouts)["items"]) == 1


def test_membership_zone_needs_a_tier_and_role_zone_needs_roles(stage: Stage) -> None:
    zones = [floor(access_mode="membership_tier"), floor(name="Pit", access_mode="role_based")]
    answer = stage.api.ask("POST", stage.layouts, a_layout(zones=zones))
    assert set(problems(answer)) == {"zones[0].membership_tier", "zones[1].allowed_roles"}


def test_active_layout_cannot_be_changed(stage: Stage) -> None:
    path = f"{stage.layouts}/{stage.layout['id']}"
    assert stage.api.refused("PUT", path, a_layout()) == (409, "layout_immutable")


def test_draft_can_be_replaced(stage: Stage) -> None:
    draft = make(stage, a_layout())
    replaced = stage.api.put(f"{stage.layouts}/{draft['id']}", a_layout(zones=[floor(capacity=20)]))
    assert (replaced["total_capacity"], replaced["version"]) == (20, 1)


def seat_ids(app_server: AppServer, layout_id: str) -> dict[str, str]:
    with app_server.database.reading() as session:
        rows = session.execute(text("SELECT seat_id, id FROM layout_seats WHERE layout_id = :id"), {"id": layout_id})
        return {row.seat_id: row.id for row in rows}


def test_seats_and_zones_keep_their_ids_in_the_next_version(stage: Stage, app_server: AppServer) -> None:
    next_version = stage.api.post(f"{stage.layouts}/{stage.layout['id']}/versions", a_layout(name="Main hall, widened"))
    assert (next_version["version"], next_version["family_id"]) == (2, stage.layout["family_id"])
    assert [zone["id"] for zone in next_version["zones"]] == [zone["id"] for zone in stage.layout["zones"]]
    assert seat_ids(app_server, next_version["id"]) == seat_ids(app_server, stage.layout["id"])
    third = stage.api.post(f"{stage.layouts}/{stage.layout['id']}/versions", a_layout())
    assert third["version"] == 3


def test_version_in_use_cannot_be_archived(stage: Stage) -> None:
    stage.choose()
    path = f"{stage.layouts}/{stage.layout['id']}/archive"
    assert stage.api.refused("POST", path) == (409, "layout_in_use")
    stage.api.post(f"/api/events/{stage.event['id']}/cancel", status=200)
    assert stage.api.post(path, status=200)["status"] == "archived"


def test_layout_holds_no_more_people_than_its_venue(stage: Stage) -> None:
    venue = f"/api/venues/{stage.venue['id']}"
    assert stage.api.refused("PATCH", venue, {"max_capacity": 100}) == (409, "layouts_exceed_capacity")
    assert stage.api.get(venue)["max_capacity"] == 0
    stage.api.post(f"{stage.layouts}/{stage.layout['id']}/archive", status=200)
    stage.api.patch(venue, {"max_capacity": 100})
    answer = stage.api.ask("POST", stage.layouts, a_layout())
    assert "but the venue only 100" in problems(answer)["zones"]


def test_vip_zones_must_be_allowed_by_the_organisation(stage: Stage) -> None:
    vip = a_layout(zones=[floor(zone_type="vip_standing")])
    assert stage.api.refused("POST", stage.layouts, vip) == (409, "zone_not_allowed")
    stage.api.patch("/api/organisation/seating-policy", {"allow_vip_zones": True})
    assert make(stage, vip)["total_capacity"] == 300


def test_reserved_and_free_seating_together_can_be_forbidden(stage: Stage) -> None:
    stage.api.patch("/api/organisation/seating-policy", {"allow_hybrid_ga_reserved": False})
    assert stage.api.refused("POST", stage.layouts, a_layout()) == (409, "zone_not_allowed")
    assert make(stage, a_layout(zones=[stalls()]))


def test_layouts_of_other_organisations_are_not_found(stage: Stage, app_server: AppServer) -> None:
    stranger = app_server.api(app_server.organisation("rival"))
    path = f"{stage.layouts}/{stage.layout['id']}"
    for method, where in (("GET", stage.layouts), ("GET", path), ("PUT", path), ("POST", f"{path}/activate")):
        status, _ = stranger.refused(method, where, a_layout() if method == "PUT" else None)
        assert status == 404
    own = stranger.post("/api/venues", {"name": "Elsewhere", "timezone": "Europe/Berlin"})
    assert stranger.refused("GET", f"/api/venues/{own['id']}/layouts/{stage.layout['id']}") == (404, "layout_not_found")


def test_readers_cannot_change_layouts(stage: Stage, app_server: AppServer) -> None:
    reader = app_server.api(app_server.organisation("readers"), scopes=["read"])
    assert reader.refused("POST", stage.layouts, a_layout())[0] == 403
    assert reader.refused("PATCH", "/api/organisation/seating-policy", {"max_seats_per_booking": 4})[0] == 403


def exported(api: ApiClient, stage: Stage, form: str) -> bytes:
    answer = api.ask("GET", f"{stage.layouts}/{stage.layout['id']}/export?format={form}")
    assert answer.status_code == 200
    return answer.data


def imported(api: ApiClient, stage: Stage, form: str, body: bytes, **query: str) -> Any:
    parameters = "&".join(f"{key}={value}" for key, value in {"format": form, **query}.items())
    return api.client.post(f"{stage.layouts}/import?{parameters}", data=body, headers=api.headers)


@pytest.mark.parametrize("form", ["gatehouse", "csv", "svg"])
def test_layout_survives_a_file_round_trip(stage: Stage, form: str) -> None:
    stage.layout = make(stage, with_wheelchairs())
    answer = imported(stage.api, stage, form, exported(stage.api, stage, form), name="Main+hall")
    assert answer.status_code == 201, answer.json
    before, after = (
        stage.api.get(f"{stage.layouts}/{id}")["layout"]["zones"] for id in (stage.layout["id"], answer.json["id"])
    )
    assert before == after


def test_seats_and_rows_survive_a_pretix_round_trip(stage: Stage) -> None:
    answer = imported(stage.api, stage, "pretix", exported(stage.api, stage, "pretix"))
    assert answer.status_code == 201, answer.json
    zone = stage.api.get(f"{stage.layouts}/{answer.json['id']}")["layout"]["zones"][0]
    imported_seats = [(seat["seat_id"], seat["row"], seat["number"], seat["coordinates"]) for seat in zone["seats"]]
    sent = [(seat["seat_id"], seat["row"], str(seat["number"]), seat["coordinates"]) for seat in stalls()["seats"]]
    assert imported_seats == sent


def test_file_is_imported_as_the_next_version(stage: Stage) -> None:
    body = exported(stage.api, stage, "csv")
    answer = imported(stage.api, stage, "csv", body, name="Main+hall", layout_id=stage.layout["id"])
    assert (answer.status_code, answer.json["version"]) == (201, 2)


def test_file_with_mistakes_is_refused_as_a_whole(stage: Stage) -> None:
    body = b"zone,row,number,category\nStalls,A,1,standard\nStalls,A,2,throne\nStalls,,3,standard\n"
    answer = imported(stage.api, stage, "csv", body)
    assert set(problems(answer)) == {"line 3, category", "line 4, row"}
    answer = imported(stage.api, stage, "gatehouse", b'{"name": "Hall", "zones": [{"name": "Stalls"}]}')
    assert set(problems(answer)) == {"zones.0.zone_type"}
    assert imported(stage.api, stage, "gatehouse", b"{").status_code == 400
    assert len(stage.api.get(stage.layouts)["items"]) == 1


def test_columns_say_what_the_layout_says(stage: Stage) -> None:
    shape = with_wheelchairs()
    shape["zones"][0]["seats"][-1] |= {"seat_id": "The best one", "aisle_after": True}
    layout = stage.api.post(stage.layouts, shape)
    path = f"{stage.layouts}/{layout['id']}"
    whole, columns = stage.api.get(path)["layout"], stage.api.get(f"{path}/columns")
    seats = columns["seats"]
    listed = [(zone["name"], seat) for zone in whole["zones"] for seat in zone["seats"]]
    texts, names = seats["texts"], dict(zip(seats["named"], seats["names"], strict=True))
    assert seats["count"] == len(listed) > 0
    zones = [whole["zones"][at]["name"] for at, count in seats["zones"] for _ in range(count)]
    for n, (zone, seat) in enumerate(listed):
        labels = [texts[seats[column][n]] for column in ("section", "row", "number")]
        assert (zones[n], labels) == (zone, [seat["section"], seat["row"], seat["number"]])
        assert names.get(n, "-".join(filter(None, (zone, *labels)))) == seat["seat_id"]
        assert seats["kinds"][seats["kind"][n]] == seat["category"]
        assert texts[seats["price"][n]] == seat["price_category"]
        drawn = None if n in seats["undrawn"] else {"x": seats["x"][n], "y": seats["y"][n]}
        assert drawn == seat["coordinates"]
        assert (n in seats["aisles"]) == seat["aisle_after"]
        beside = dict(seats["companions"]).get(n)
        assert (None if beside is None else listed[beside][1]["seat_id"]) == seat["companion_seat_id"]
    named = [[listed[n][1]["seat_id"] for n in group] for group in seats["groups"]]
    assert named == [group["seat_ids"] for group in whole["groups"]]
    assert [zone["seats"] for zone in columns["layout"]["zones"]] == [[] for _ in whole["zones"]]
