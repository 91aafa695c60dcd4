"""Several seats at once, places without seats, bounds and rates, giving up and lasting longer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.builders import MINUTE
from tests.contracts.holds.house import House, a_house
from tests.contracts.seating.stage import a_layout, floor, stalls, with_wheelchairs
from tests.office import Desk, Office


def ask(house: House, who: Desk, status: int = 201, **party: Any) -> Any:
    answer = who.ask("POST", f"{house.path}/holds", party)
    assert answer.status_code == status, answer.get_data(as_text=True)
    return answer.json["data"] if status == 201 and answer.json else answer.json


def ids(house: House, *names: str) -> list[str]:
    return [house.seats[name][0] for name in names]


def test_a_party_gets_all_its_seats_or_none(house: House) -> None:
    house.reserve(house.guest(), "A-3")
    house.sell("A-5")
    guest = house.guest()
    refused = ask(house, guest, 409, seat_ids=ids(house, "A-1", "A-2", "A-3", "A-4", "A-5"))["error"]
    assert refused["code"] == "seat_held_by_another_user" and "A-3, A-5" in refused["message"]
    assert (refused["details"]["seat_id"], refused["details"]["seats"]) == (house.seats["A-3"][0], ["A-3", "A-5"])
    assert house.states() == {"A-3": 1, "A-5": 2}
    held = ask(house, guest, seat_ids=ids(house, "A-1", "A-2"))
    assert [each["seat_name"] for each in held["holds"]] == ["A-1", "A-2"] and held["party_id"]
    assert ask(house, guest, 200, seat_ids=ids(house, "A-1", "A-2"))["data"] == held
    mine = guest.get(f"/api/me/holds?event={house.id}")["data"]["holds"]
    assert [each["seat_name"] for each in mine] == ["A-1", "A-2"]


def test_seats_of_a_party_may_be_called_as_the_layout_calls_them(house: House) -> None:
    layout = house.desk.get(f"{house.path}/layout")["layout_id"]
    house.desk.put(f"{house.path}/layout", {"layout_id": layout, "overrides": {"blocked_seat_ids": ["B-1"]}})
    guest = house.guest()
    held = ask(house, guest, seat_ids=["A-1", *ids(house, "A-2"), "A-1", house.seats["A-2"][0].upper()])
    assert [each["seat_id"] for each in held["holds"]] == ids(house, "A-1", "A-2")
    nowhere = ask(house, guest, 404, seat_ids=["A-3", "Z-9"])["error"]
    assert (nowhere["code"], nowhere["details"]["seat_ids"]) == ("seat_not_found", ["Z-9"])
    blocked = ask(house, guest, 409, seat_ids=["A-3", "B-1"])["error"]
    assert blocked["details"] == {"current_status": "blocked", "seat_id": house.seats["B-1"][0], "seats": ["B-1"]}
    assert house.states() == {"A-1": 1, "A-2": 1}


def test_what_somebody_holds_already_excuses_nothing(office: Office) -> None:
    house = a_house(office, layout=with_wheelchairs())
    guest = house.guest()
    house.reserve(guest, "B-1")
    assert ask(house, guest, 409, seat_ids=["B-1", "B-3"])["error"]["code"] == "leaves_single_seat"
    assert ask(house, guest, 409, seat_ids=["B-1", "A-2"])["error"]["code"] == "companion_seat_kept"
    house.desk.patch("/api/organisation/seating-policy", {"orphan_avoidance_strict": False})
    house.reserve(house.guest(), "B-8")  # from now on the new policy is known
    key = {"Idempotency-Key": "k"}
    assert guest.ask("POST", house.reserve_path("A-2"), {}, **key).json["error"]["code"] == "companion_seat_kept"  # type: ignore[index]
    assert ask(house, guest, seat_ids=["B-1", "B-3"])["party_id"] is None
    assert set(house.states()) == {"B-1", "B-3", "B-8"}


def test_the_best_seats_left_are_held(house: House) -> None:
    held = ask(house, house.guest(), best=4)
    assert {each["row"] for each in held["holds"]} == {"A"} and len(held["holds"]) == 4
    again = ask(house, house.guest(), best=4)
    taken = {each["seat_name"] for each in held["holds"]} | {each["seat_name"] for each in again["holds"]}
    assert len(taken) == 8
    assert ask(house, house.guest(), 400, best=11)["error"]["code"] == "too_many_seats"


def test_a_choice_that_leaves_a_single_seat_is_refused_with_a_better_one(house: House) -> None:
    guest = house.guest()
    answer = guest.ask("POST", house.reserve_path("A-2"), {})
    assert answer.status_code == 409 and answer.json is not None
    error = answer.json["error"]
    assert error["code"] == "leaves_single_seat" and "row A" in error["details"]["instead"]
    assert house.states() == {}
    # Where nobody could sit better, the same seat is given.
    house.sell(*(name for name in house.seats if name not in {"A-1", "A-2"}))
    house.reserve(guest, "A-2")


def test_the_box_office_may_leave_single_seats_and_nobody_else(house: House) -> None:
    assert house.refused(house.guest(), "A-2", override=True) == (403, "forbidden")
    house.reserve(house.desk, "A-2", override=True)


def test_the_seat_of_a_companion_is_kept_for_the_guest_in_the_wheelchair(office: Office) -> None:
    house = a_house(office, layout=with_wheelchairs())
    guest = house.guest()
    assert house.refused(guest, "A-2") == (409, "companion_seat_kept")
    house.reserve(guest, "A-1")
    house.reserve(guest, "A-2")


def test_places_are_held_up_to_the_capacity_of_the_zone(office: Office) -> None:
    house = a_house(office, layout=a_layout(zones=[stalls(), floor(capacity=10)]))
    first, second = house.guest(), house.guest()
    zone = house.zones["Floor"]
    held = ask(house, first, count=8, zone_id=zone)["holds"][0]
    assert (held["quantity"], held["block_name"], held["message"][:8]) == (8, "Floor", "8 places")
    assert ask(house, second, 409, count=3, zone_id=zone)["error"]["code"] == "block_at_capacity"
    ask(house, second, count=2, zone_id=zone)
    assert first.ask("DELETE", f"/api/holds/{held['hold_id']}").status_code == 204
    ask(house, second, count=3, zone_id=zone)
    office.advance(5 * MINUTE)
    ask(house, house.guest(), count=10, zone_id=zone)  # what is over is free at that instant


def test_an_event_that_sells_less_than_its_house_holds(office: Office) -> None:
    house = a_house(office, capacity=3)
    guest = house.guest()
    for name in ("A-1", "A-2", "A-3"):
        house.reserve(guest, name)
    assert house.refused(house.guest(), "B-1") == (409, "block_at_capacity")
    office.advance(5 * MINUTE)
    house.reserve(house.guest(), "B-1")


def test_an_eleventh_seat_within_five_minutes_has_to_wait(office: Office) -> None:
    house = a_house(office, layout=a_layout(zones=[stalls("ABC"), floor()]))
    guest = house.guest()
    for _ in range(10):
        hold = house.reserve(guest, "A-1")
        guest.ask("DELETE", f"/api/holds/{hold['hold_id']}")
        office.advance(1_000)
    answer = guest.ask("POST", house.reserve_path("A-1"), {})
    assert answer.status_code == 429 and answer.json is not None
    assert answer.json["error"]["code"] == "rate_limited" and answer.headers["Retry-After"] == "290"
    office.advance(290_000)
    house.reserve(guest, "A-1")


def test_places_count_as_seats_do_and_one_booking_is_never_too_fast(office: Office) -> None:
    house = a_house(office)
    guest, zone = house.guest(), house.zones["Floor"]
    (hold,) = ask(house, guest, count=10, zone_id=zone)["holds"]
    assert guest.ask("DELETE", f"/api/holds/{hold['hold_id']}").status_code == 204
    assert house.refused(guest, "A-1") == (429, "rate_limited")
    assert ask(house, guest, 429, count=1, zone_id=zone)["error"]["code"] == "rate_limited"
    house.desk.patch("/api/organisation/seating-policy", {"max_seats_per_booking": 30, "max_holds_per_ip": 30})
    ask(house, house.guest(), count=30, zone_id=zone)
    assert house.refused(house.guest(), "A-1") == (429, "rate_limited")  # thirty from this address


def test_the_policy_bounds_what_one_bearer_and_one_address_hold(office: Office) -> None:
    house = a_house(office)
    house.desk.patch("/api/organisation/seating-policy", {"max_holds_per_user": 1, "max_holds_per_ip": 2})
    guest = house.guest()
    house.reserve(guest, "A-1")
    assert house.refused(guest, "A-2") == (409, "too_many_holds")
    house.reserve(house.guest(), "A-2")
    assert house.refused(house.guest(), "A-3") == (429, "rate_limited")
    guest.ask("DELETE", f"/api/o/{house.slug}/session")
    house.reserve(house.guest(), "A-3")


@pytest.mark.parametrize("proxies", [0, 1])
def test_a_forwarded_address_counts_only_behind_a_proxy(sqlite_url: str, tmp_path: Path, proxies: int) -> None:
    office = Office(sqlite_url, tmp_path, trusted_proxies=proxies)
    house = a_house(office)
    house.desk.patch("/api/organisation/seating-policy", {"max_holds_per_ip": 1})
    first, second = house.guest(), house.guest()
    house.reserve(first, "A-1")
    second.headers["X-Forwarded-For"] = "203.0.113.7, 198.51.100.9"
    answer = second.ask("POST", house.reserve_path("B-1"), {})
    assert answer.status_code == (201 if proxies else 429)
    second.headers["X-Forwarded-For"] = "203.0.113.8, 198.51.100.9"  # what stands further left, anybody may write
    assert second.ask("POST", house.reserve_path("B-2"), {}).status_code == 429
    office.close()


def test_holds_last_as_long_as_the_policy_says(office: Office) -> None:
    house = a_house(office)
    house.desk.patch("/api/organisation/seating-policy", {"default_hold_ttl_minutes": 12})
    assert house.reserve(house.guest(), "A-1")["message"] == "Seat reserved for 12 minutes. Proceed to checkout."


def test_a_hold_lasts_longer_once(house: House) -> None:
    guest = house.guest()
    hold = house.reserve(guest, "A-1")
    house.office.advance(4 * MINUTE)
    path = f"/api/holds/{hold['hold_id']}/extend"
    assert guest.post(path, {}, 200)["data"]["expires_in_seconds"] == 300
    assert guest.refused("POST", path, {}) == (409, "hold_extended_already")
    house.office.advance(5 * MINUTE)
    assert guest.refused("POST", path, {}) == (409, "hold_expired")
    house.reserve(house.guest(), "A-1")


def test_giving_up_twice_is_as_good_as_once_and_only_ones_own(house: House) -> None:
    guest = house.guest()
    hold = house.reserve(guest, "A-1")
    path = f"/api/holds/{hold['hold_id']}"
    assert house.guest().refused("DELETE", path) == (404, "hold_not_found")
    assert guest.ask("DELETE", path).status_code == guest.ask("DELETE", path).status_code == 204
    house.reserve(house.guest(), "A-1")


def test_a_key_of_idempotency_answers_the_same_even_when_the_hold_is_over(house: House) -> None:
    guest = house.guest()
    send = {"Idempotency-Key": "k"}
    first = guest.ask("POST", house.reserve_path("A-1"), {}, **send)
    house.office.advance(6 * MINUTE)
    again = guest.ask("POST", house.reserve_path("A-1"), {}, **send)
    assert first.status_code == again.status_code == 201 and first.json == again.json
    assert again.headers["Idempotent-Replay"] == "true"
    other = guest.ask("POST", house.reserve_path("A-3"), {}, **send)
    assert (other.status_code, other.json["error"]["code"] if other.json else "") == (409, "idempotency_key_reused")


def test_whoever_has_left_holds_for_no_party_with_the_cookie_that_stayed_behind(house: House) -> None:
    guest = house.guest()
    cookie = guest.client.get_cookie(f"gatehouse_guest_{house.slug}")
    assert cookie is not None
    assert guest.ask("DELETE", f"/api/o/{house.slug}/session").status_code == 204
    guest.client.set_cookie(cookie.key, cookie.value)
    for party in ({"best": 2}, {"count": 1, "zone_id": house.zones["Floor"]}):
        assert guest.refused("POST", f"{house.path}/holds", party) == (401, "unauthorized")
    assert house.refused(guest, "A-1") == (401, "unauthorized")
