"""Organisers draw layouts, change them in new versions, and bring them from elsewhere."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from tests.contracts.seating.stage import Stage, a_layout, a_seat, floor, stalls, with_wheelchairs
from tests.office import Desk, Office


def problems(answer: Any) -> dict[str, str]:
    listed = answer.json["error"]["details"]["mistakes"]
    return {each["place"]: each["problem"] for each in listed}


def test_layout_comes_back_as_it_was_sent(stage: Stage) -> None:
    there = stage.desk.get(f"{stage.layouts}/{stage.layout['id']}")
    assert (there["status"], there["version"], there["total_capacity"]) == ("active", 1, 316)
    sent, kept = a_layout()["zones"][0]["seats"], there["layout"]["zones"][0]["seats"]
    assert [(seat["seat_id"], seat["coordinates"]) for seat in kept] == [
        (seat["seat_id"], seat["coordinates"]) for seat in sent
    ]
    assert stage.desk.put(f"{stage.layouts}/{make(stage, a_layout())['id']}", there["layout"])


def make(stage: Stage, layout: dict[str, Any]) -> Any:
    return stage.desk.post(stage.layouts, layout)


def test_every_mistake_is_told_with_its_place_and_nothing_is_kept(stage: Stage) -> None:
    zone = stalls(seats=[a_seat("A", 1), a_seat("A", 1), a_seat("A", 2, category="companion")], capacity=5)
    answer = stage.desk.ask("POST", stage.layouts, a_layout(zones=[zone, floor(), floor(capacity=1)]))
    assert answer.status_code == 400
    assert set(problems(answer)) == {
        "zones",
        "zones[0].capacity",
        "zones[0].seats",
        "zones[0].seats[1].seat_id",
        "zones[0].seats[2].companion_seat_id",
    }
    assert len(stage.desk.get(stage.layouts)["items"]) == 1


def test_membership_zone_names_its_tier_and_role_zone_its_roles(stage: Stage) -> None:
    zones = [floor(access_mode="membership_tier"), floor(name="Pit", access_mode="role_based")]
    answer = stage.desk.ask("POST", stage.layouts, a_layout(zones=zones))
    assert set(problems(answer)) == {"zones[0].membership_tier", "zones[1].allowed_roles"}


def test_what_events_may_use_is_never_changed(stage: Stage) -> None:
    path = f"{stage.layouts}/{stage.layout['id']}"
    assert stage.desk.refused("PUT", path, a_layout()) == (409, "layout_immutable")


def test_draft_is_drawn_anew(stage: Stage) -> None:
    draft = make(stage, a_layout())
    redrawn = stage.desk.put(f"{stage.layouts}/{draft['id']}", a_layout(zones=[floor(capacity=20)]))
    assert (redrawn["total_capacity"], redrawn["version"]) == (20, 1)


def seat_ids(office: Office, layout_id: str) -> dict[str, str]:
    with office.database.reading() as session:
        rows = session.execute(text("SELECT seat_id, id FROM layout_seats WHERE layout_id = :id"), {"id": layout_id})
        return {row.seat_id: row.id for row in rows}


def test_seats_and_zones_keep_their_ids_in_the_next_version(stage: Stage, office: Office) -> None:
    following = stage.desk.post(f"{stage.layouts}/{stage.layout['id']}/versions", a_layout(name="Main hall, widened"))
    assert (following["version"], following["family_id"]) == (2, stage.layout["family_id"])
    assert [zone["id"] for zone in following["zones"]] == [zone["id"] for zone in stage.layout["zones"]]
    assert seat_ids(office, following["id"]) == seat_ids(office, stage.layout["id"])
    third = stage.desk.post(f"{stage.layouts}/{stage.layout['id']}/versions", a_layout())
    assert third["version"] == 3


def test_version_that_an_event_uses_is_not_archived(stage: Stage) -> None:
    stage.choose()
    path = f"{stage.layouts}/{stage.layout['id']}/archive"
    assert stage.desk.refused("POST", path) == (409, "layout_in_use")
    stage.desk.post(f"/api/events/{stage.event['id']}/cancel", status=200)
    assert stage.desk.post(path, status=200)["status"] == "archived"


def test_layout_holds_no_more_people_than_its_venue(stage: Stage) -> None:
    house = f"/api/venues/{stage.venue['id']}"
    assert stage.desk.refused("PATCH", house, {"max_capacity": 100}) == (409, "layouts_exceed_capacity")
    assert stage.desk.get(house)["max_capacity"] == 0
    stage.desk.post(f"{stage.layouts}/{stage.layout['id']}/archive", status=200)
    stage.desk.patch(house, {"max_capacity": 100})
    answer = stage.desk.ask("POST", stage.layouts, a_layout())
    assert "no more than 100" in problems(answer)["zones"]


def test_vip_zones_need_the_organisations_leave(stage: Stage) -> None:
    vip = a_layout(zones=[floor(zone_type="vip_standing")])
    assert stage.desk.refused("POST", stage.layouts, vip) == (409, "zone_not_allowed")
    stage.desk.patch("/api/organisation/seating-policy", {"allow_vip_zones": True})
    assert make(stage, vip)["total_capacity"] == 300


def test_reserved_and_free_seating_side_by_side_can_be_ruled_out(stage: Stage) -> None:
    stage.desk.patch("/api/organisation/seating-policy", {"allow_hybrid_ga_reserved": False})
    assert stage.desk.refused("POST", stage.layouts, a_layout()) == (409, "zone_not_allowed")
    assert make(stage, a_layout(zones=[stalls()]))


def test_layouts_do_not_cross_organisations(stage: Stage, office: Office) -> None:
    stranger = office.desk(office.organisation("rival"))
    path = f"{stage.layouts}/{stage.layout['id']}"
    for method, where in (("GET", stage.layouts), ("GET", path), ("PUT", path), ("POST", f"{path}/activate")):
        status, _ = stranger.refused(method, where, a_layout() if method == "PUT" else None)
        assert status == 404
    own = stranger.post("/api/venues", {"name": "Elsewhere", "timezone": "Europe/Berlin"})
    assert stranger.refused("GET", f"/api/venues/{own['id']}/layouts/{stage.layout['id']}") == (404, "layout_not_found")


def test_reading_is_not_drawing(stage: Stage, office: Office) -> None:
    reader = office.desk(office.organisation("readers"), scopes=["read"])
    assert reader.refused("POST", stage.layouts, a_layout())[0] == 403
    assert reader.refused("PATCH", "/api/organisation/seating-policy", {"max_seats_per_booking": 4})[0] == 403


def exported(desk: Desk, stage: Stage, form: str) -> bytes:
    answer = desk.ask("GET", f"{stage.layouts}/{stage.layout['id']}/export?format={form}")
    assert answer.status_code == 200
    return answer.data


def imported(desk: Desk, stage: Stage, form: str, body: bytes, **query: str) -> Any:
    words = "&".join(f"{key}={value}" for key, value in {"format": form, **query}.items())
    return desk.client.post(f"{stage.layouts}/import?{words}", data=body, headers=desk.headers)


@pytest.mark.parametrize("form", ["gatehouse", "csv", "svg"])
def test_file_brings_the_whole_layout_back(stage: Stage, form: str) -> None:
    stage.layout = make(stage, with_wheelchairs())
    answer = imported(stage.desk, stage, form, exported(stage.desk, stage, form), name="Main+hall")
    assert answer.status_code == 201, answer.json
    before, after = (
        stage.desk.get(f"{stage.layouts}/{id}")["layout"]["zones"] for id in (stage.layout["id"], answer.json["id"])
    )
    assert before == after


def test_pretix_file_brings_seats_and_rows_back(stage: Stage) -> None:
    answer = imported(stage.desk, stage, "pretix", exported(stage.desk, stage, "pretix"))
    assert answer.status_code == 201, answer.json
    zone = stage.desk.get(f"{stage.layouts}/{answer.json['id']}")["layout"]["zones"][0]
    kept = [(seat["seat_id"], seat["row"], seat["number"], seat["coordinates"]) for seat in zone["seats"]]
    sent = [(seat["seat_id"], seat["row"], str(seat["number"]), seat["coordinates"]) for seat in stalls()["seats"]]
    assert kept == sent


def test_file_becomes_the_next_version(stage: Stage) -> None:
    body = exported(stage.desk, stage, "csv")
    answer = imported(stage.desk, stage, "csv", body, name="Main+hall", layout_id=stage.layout["id"])
    assert (answer.status_code, answer.json["version"]) == (201, 2)


def test_file_with_mistakes_leaves_nothing_behind(stage: Stage) -> None:
    body = b"zone,row,number,category\nStalls,A,1,standard\nStalls,A,2,throne\nStalls,,3,standard\n"
    answer = imported(stage.desk, stage, "csv", body)
    assert set(problems(answer)) == {"line 3, category", "line 4, row"}
    answer = imported(stage.desk, stage, "gatehouse", b'{"name": "Hall", "zones": [{"name": "Stalls"}]}')
    assert set(problems(answer)) == {"zones.0.zone_type"}
    assert imported(stage.desk, stage, "gatehouse", b"{").status_code == 400
    assert len(stage.desk.get(stage.layouts)["items"]) == 1
