"""What an organiser is told of a house that is seated badly, and when that is over."""

from __future__ import annotations

from typing import Any

from tests.builders import MINUTE, a_ticket_type
from tests.contracts.holds.house import House, a_house
from tests.office import Office

ROW = 12


def a_wide_house(office: Office, slug: str = "marquee") -> House:
    seats = [{"row": row, "number": place, "seat_id": f"{row}-{place}"} for row in "ABC" for place in range(1, ROW + 1)]
    layout = {"name": "Hall", "zones": [{"name": "Stalls", "zone_type": "reserved_seating", "seats": seats}]}
    house = a_house(office, slug=slug, layout=layout)
    house.desk.post(f"{house.path}/ticket-types", a_ticket_type(zone=1))
    return house


def issue(house: House, *names: str) -> list[dict[str, Any]]:
    body = {"ticket_type": 1, "seats": [{"seat_id": name} for name in names], "override": "told by the box office"}
    items: list[dict[str, Any]] = house.desk.post(f"{house.path}/tickets", body)["items"]
    return items


def alerts(house: House) -> dict[str, Any]:
    return {one["kind"]: one for one in house.desk.get("/api/alerts")["items"]}


def look(office: Office) -> None:
    """Let the worker make its round, ten minutes after the last."""
    office.advance(10 * MINUTE)
    for _ in range(4):
        office.work()


def test_single_seats_all_over_the_house_are_told_until_they_are_sold(office: Office) -> None:
    house = a_wide_house(office)
    with_gaps = [f"{row}-{place}" for row in "ABC" for place in range(1, ROW + 1) if place not in {2, 5, 8, 11}]
    issue(house, *with_gaps)
    assert "house_out_of_bounds" not in alerts(house), "nobody has looked yet"
    look(office)
    told = alerts(house)["house_out_of_bounds"]
    assert (told["count"], told["event_id"], told["event_name"]) == (1, house.id, house.event["name"])
    assert "seating/metrics" in told["do"]
    since = told["since"]
    look(office)
    assert alerts(house)["house_out_of_bounds"]["since"] == since, "it stands as long as it has stood"
    issue(house, *(f"{row}-{place}" for row in "ABC" for place in (2, 5, 8, 11)))
    look(office)
    assert "house_out_of_bounds" not in alerts(house)


def test_a_house_that_has_hardly_begun_to_sell_alarms_nobody(office: Office) -> None:
    house = a_wide_house(office)
    issue(house, "A-1", "A-3", "A-5", "A-7")
    look(office)
    assert alerts(house) == {}


def test_a_house_that_is_called_off_and_another_organisations_are_not_told(office: Office) -> None:
    house, rival = a_wide_house(office), a_wide_house(office, "rivals")
    with_gaps = [f"{row}-{place}" for row in "ABC" for place in range(1, ROW + 1) if place not in {2, 5, 8, 11}]
    issue(house, *with_gaps)
    look(office)
    assert "house_out_of_bounds" in alerts(house) and "house_out_of_bounds" not in alerts(rival)
    house.desk.post(f"{house.path}/cancel", {"reason": "storm"}, 200)
    assert "house_out_of_bounds" not in alerts(house)
    look(office)
    assert house.rows("SELECT count(*) FROM house_figures") == [(0,)]
