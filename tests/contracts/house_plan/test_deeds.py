"""Organisers act on the map: seats leave the sale and come back, and holds are given up; open pages see it."""

from __future__ import annotations

from typing import Any

from tests.contracts.house_plan.house import CLOSED, FREE, HELD, TAKEN, House, a_house
from tests.contracts.seating.stage import a_layout, floor, stalls
from tests.office import Desk, Office


def block(house: House, *seats: int, status: int = 200, desk: Desk | None = None) -> Any:
    """Take seats out of the sale."""
    return (desk or house.stage.desk).post(f"{house.path}/blocked", {"block": seats}, status)


def test_blocked_seat_leaves_the_sale_and_comes_back_with_all_else_as_it_was(office: Office, desk: Desk) -> None:
    house = a_house(office, desk, a_layout(zones=[stalls(), floor()]))
    house.stage.choose(
        blocked_seat_ids=["B-8"],
        zone_overrides={house.stage.zone("Floor"): {"capacity": 40}},
        pricing_zones={house.stage.zone("Stalls"): {"ticket_types": [1]}},
    )
    before = desk.get(house.stage.path)
    page = house.page()
    assert block(house, 2, 3) == {"blocked": 3, "changed": 2}
    office.work()
    page.follow()
    assert [page.seat(seat) for seat in (1, 2, 3, 16)] == [FREE, CLOSED, CLOSED, CLOSED]
    blocked = desk.get(house.stage.path)
    assert blocked["blocked_seat_ids"] == ["A-2", "A-3", "B-8"]
    told = desk.post(f"{house.path}/blocked", {"open": [2, 3, 4]}, 200)
    assert told == {"blocked": 1, "changed": 2}
    after = desk.get(house.stage.path)
    assert {**after, "revision": 0, "updated_at": ""} == {**before, "revision": 0, "updated_at": ""}
    assert set(house.page().seats[:8]) == {FREE}


def test_nobody_loses_a_seat_by_blocking(house: House, office: Office, desk: Desk) -> None:
    house.sell("A-3")
    house.hold(4)
    for seat in (3, 4):
        assert desk.refused("POST", f"{house.path}/blocked", {"block": [1, seat]}) == (409, "seats_taken")
    assert desk.refused("POST", f"{house.path}/blocked", {"block": [99]}) == (400, "unknown_seat")
    assert desk.get(house.stage.path)["blocked_seat_ids"] == []


def test_hold_that_is_given_up_by_the_map_frees_its_seat(house: House, office: Office, desk: Desk) -> None:
    house.hold(4)
    office.work()
    page, visitor = house.page(desk), house.page()
    assert (page.seat(4), visitor.seat(4)) == (HELD, TAKEN)
    assert desk.ask("DELETE", f"{house.path}/holds/4").status_code == 204
    office.work()
    assert (page.follow(), visitor.follow()) == ([[4, FREE]], [[4, FREE]])
    assert desk.refused("DELETE", f"{house.path}/holds/4") == (404, "hold_not_found")
    house.sell("A-4")
    assert desk.refused("DELETE", f"{house.path}/holds/4") == (404, "hold_not_found")


def test_map_is_changed_by_its_own_organisers_only(house: House, office: Office) -> None:
    rival = office.desk(office.organisation("rivals"))
    house.hold(4)
    for stranger, status in ((rival, 404), (house.visitor, 401)):
        assert stranger.refused("POST", f"{house.path}/blocked", {"block": [1]})[0] == status
        assert stranger.refused("DELETE", f"{house.path}/holds/4")[0] == status
    office.work()
    assert house.page(house.stage.desk).seat(4) == HELD
