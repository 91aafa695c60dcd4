"""Several seats at once, places without seats, limits and rates, releasing and extending."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.app_server import ApiClient, AppServer
from tests.builders import MINUTE
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.seating.stage import a_layout, floor, stalls, with_wheelchairs


def ask(sale: SeatedEvent, who: ApiClient, status: int = 201, **body: Any) -> Any:
    answer = who.ask("POST", f"{sale.path}/holds", body)
    assert answer.status_code == status, answer.get_data(as_text=True)
    return answer.json["data"] if status == 201 and answer.json else answer.json


def ids(sale: SeatedEvent, *names: str) -> list[str]:
    return [sale.seats[name][0] for name in names]


def test_a_group_gets_all_its_seats_or_none(sale: SeatedEvent) -> None:
    sale.reserve(sale.guest(), "A-3")
    sale.sell("A-5")
    guest = sale.guest()
    refused = ask(sale, guest, 409, seat_ids=ids(sale, "A-1", "A-2", "A-3", "A-4", "A-5"))["error"]
    assert refused["code"] == "seat_held_by_another_user" and "A-3, A-5" in refused["message"]
    assert (refused["details"]["seat_id"], refused["details"]["seats"]) == (sale.seats["A-3"][0], ["A-3", "A-5"])
    assert sale.states() == {"A-3": 1, "A-5": 2}
    held = ask(sale, guest, seat_ids=ids(sale, "A-1", "A-2"))
    assert [each["seat_name"] for each in held["holds"]] == ["A-1", "A-2"] and held["party_id"]
    assert ask(sale, guest, 200, seat_ids=ids(sale, "A-1", "A-2"))["data"] == held
    mine = guest.get(f"/api/me/holds?event={sale.id}")["data"]["holds"]
    assert [each["seat_name"] for each in mine] == ["A-1", "A-2"]


def test_seats_of_a_group_may_be_given_by_their_names(sale: SeatedEvent) -> None:
    layout = sale.api.get(f"{sale.path}/layout")["layout_id"]
    sale.api.put(f"{sale.path}/layout", {"layout_id": layout, "overrides": {"blocked_seat_ids": ["B-1"]}})
    guest = sale.guest()
    held = ask(sale, guest, seat_ids=["A-1", *ids(sale, "A-2"), "A-1", sale.seats["A-2"][0].upper()])
    assert [each["seat_id"] for each in held["holds"]] == ids(sale, "A-1", "A-2")
    nowhere = ask(sale, guest, 404, seat_ids=["A-3", "Z-9"])["error"]
    assert (nowhere["code"], nowhere["details"]["seat_ids"]) == ("seat_not_found", ["Z-9"])
    blocked = ask(sale, guest, 409, seat_ids=["A-3", "B-1"])["error"]
    assert blocked["details"] == {"current_status": "blocked", "seat_id": sale.seats["B-1"][0], "seats": ["B-1"]}
    assert sale.states() == {"A-1": 1, "A-2": 1}


def test_seats_held_already_do_not_relax_the_rules(app_server: AppServer) -> None:
    sale = a_seated_event(app_server, layout=with_wheelchairs())
    guest = sale.guest()
    sale.reserve(guest, "B-1")
    assert ask(sale, guest, 409, seat_ids=["B-1", "B-3"])["error"]["code"] == "leaves_single_seat"
    assert ask(sale, guest, 409, seat_ids=["B-1", "A-2"])["error"]["code"] == "companion_seat_kept"
    sale.api.patch("/api/organisation/seating-policy", {"orphan_avoidance_strict": False})
    sale.reserve(sale.guest(), "B-8")  # this loads the new policy
    key = {"Idempotency-Key": "k"}
    assert guest.ask("POST", sale.reserve_path("A-2"), {}, **key).json["error"]["code"] == "companion_seat_kept"  # type: ignore[index]
    assert ask(sale, guest, seat_ids=["B-1", "B-3"])["party_id"] is None
    assert set(sale.states()) == {"B-1", "B-3", "B-8"}


def test_the_best_seats_left_are_held(sale: SeatedEvent) -> None:
    held = ask(sale, sale.guest(), best=4)
    assert {each["row"] for each in held["holds"]} == {"A"} and len(held["holds"]) == 4
    again = ask(sale, sale.guest(), best=4)
    taken = {each["seat_name"] for each in held["holds"]} | {each["seat_name"] for each in again["holds"]}
    assert len(taken) == 8
    assert ask(sale, sale.guest(), 400, best=11)["error"]["code"] == "too_many_seats"


def test_a_choice_that_leaves_a_single_seat_is_refused_with_a_better_one(sale: SeatedEvent) -> None:
    guest = sale.guest()
    answer = guest.ask("POST", sale.reserve_path("A-2"), {})
    assert answer.status_code == 409 and answer.json is not None
    error = answer.json["error"]
    assert error["code"] == "leaves_single_seat" and "row A" in error["details"]["instead"]
    assert error["details"]["instead_seats"] == ["A-1"], "as names that can be held"
    assert sale.states() == {}
    # Where there is no better choice, the same seat is held.
    sale.sell(*(name for name in sale.seats if name not in {"A-1", "A-2"}))
    sale.reserve(guest, "A-2")


def test_a_refusal_does_not_send_a_guest_away_from_the_own_party(sale: SeatedEvent) -> None:
    guest, stranger = sale.guest(), sale.guest()
    ask(sale, guest, seat_ids=ids(sale, "A-1", "A-2"))
    sale.sell("A-5", "A-6", "A-7", "A-8")
    refused = stranger.ask("POST", sale.reserve_path("A-3"), {}).json
    assert refused is not None and "row B" in refused["error"]["details"]["instead"]
    sale.reserve(guest, "A-3")  # nothing else is beside
    assert sale.states()["A-3"] == 1


def test_the_box_office_may_leave_single_seats_and_nobody_else(sale: SeatedEvent) -> None:
    assert sale.refused(sale.guest(), "A-2", override=True) == (403, "forbidden")
    sale.reserve(sale.api, "A-2", override=True)


def test_companion_seats_are_kept_for_wheelchair_places(app_server: AppServer) -> None:
    sale = a_seated_event(app_server, layout=with_wheelchairs())
    guest = sale.guest()
    assert sale.refused(guest, "A-2") == (409, "companion_seat_kept")
    sale.reserve(guest, "A-1")
    sale.reserve(guest, "A-2")


def test_places_are_held_up_to_the_capacity_of_the_zone(app_server: AppServer) -> None:
    sale = a_seated_event(app_server, layout=a_layout(zones=[stalls(), floor(capacity=10)]))
    first, second = sale.guest(), sale.guest()
    zone = sale.zones["Floor"]
    held = ask(sale, first, count=8, zone_id=zone)["holds"][0]
    assert (held["quantity"], held["block_name"], held["message"][:8]) == (8, "Floor", "8 places")
    assert ask(sale, second, 409, count=3, zone_id=zone)["error"]["code"] == "block_at_capacity"
    ask(sale, second, count=2, zone_id=zone)
    assert first.ask("DELETE", f"/api/holds/{held['hold_id']}").status_code == 204
    ask(sale, second, count=3, zone_id=zone)
    app_server.advance(5 * MINUTE)
    ask(sale, sale.guest(), count=10, zone_id=zone)  # places are free the moment their hold runs out


def test_an_event_that_sells_less_than_its_zones_hold(app_server: AppServer) -> None:
    sale = a_seated_event(app_server, capacity=3)
    guest = sale.guest()
    for name in ("A-1", "A-2", "A-3"):
        sale.reserve(guest, name)
    assert sale.refused(sale.guest(), "B-1") == (409, "block_at_capacity")
    app_server.advance(5 * MINUTE)
    sale.reserve(sale.guest(), "B-1")


def test_an_eleventh_seat_within_five_minutes_has_to_wait(app_server: AppServer) -> None:
    sale = a_seated_event(app_server, layout=a_layout(zones=[stalls("ABC"), floor()]))
    guest = sale.guest()
    for _ in range(10):
        hold = sale.reserve(guest, "A-1")
        guest.ask("DELETE", f"/api/holds/{hold['hold_id']}")
        app_server.advance(1_000)
    answer = guest.ask("POST", sale.reserve_path("A-1"), {})
    assert answer.status_code == 429 and answer.json is not None
    assert answer.json["error"]["code"] == "rate_limited" and answer.headers["Retry-After"] == "290"
    app_server.advance(290_000)
    sale.reserve(guest, "A-1")


def test_places_count_towards_the_rate_but_one_booking_is_always_allowed(app_server: AppServer) -> None:
    sale = a_seated_event(app_server)
    guest, zone = sale.guest(), sale.zones["Floor"]
    (hold,) = ask(sale, guest, count=10, zone_id=zone)["holds"]
    assert guest.ask("DELETE", f"/api/holds/{hold['hold_id']}").status_code == 204
    assert sale.refused(guest, "A-1") == (429, "rate_limited")
    assert ask(sale, guest, 429, count=1, zone_id=zone)["error"]["code"] == "rate_limited"
    sale.api.patch("/api/organisation/seating-policy", {"max_seats_per_booking": 30, "max_holds_per_ip": 30})
    ask(sale, sale.guest(), count=30, zone_id=zone)
    assert sale.refused(sale.guest(), "A-1") == (429, "rate_limited")  # thirty from this address


def test_the_policy_limits_one_bearer_and_one_address(app_server: AppServer) -> None:
    sale = a_seated_event(app_server)
    sale.api.patch("/api/organisation/seating-policy", {"max_holds_per_user": 1, "max_holds_per_ip": 2})
    guest = sale.guest()
    sale.reserve(guest, "A-1")
    assert sale.refused(guest, "A-2") == (409, "too_many_holds")
    sale.reserve(sale.guest(), "A-2")
    assert sale.refused(sale.guest(), "A-3") == (429, "rate_limited")
    guest.ask("DELETE", f"/api/o/{sale.slug}/session")
    sale.reserve(sale.guest(), "A-3")


@pytest.mark.parametrize("proxies", [0, 1])
def test_a_forwarded_address_counts_only_behind_a_proxy(sqlite_url: str, tmp_path: Path, proxies: int) -> None:
    app_server = AppServer(sqlite_url, tmp_path, trusted_proxies=proxies)
    sale = a_seated_event(app_server)
    sale.api.patch("/api/organisation/seating-policy", {"max_holds_per_ip": 1})
    first, second = sale.guest(), sale.guest()
    sale.reserve(first, "A-1")
    second.headers["X-Forwarded-For"] = "203.0.113.7, 198.51.100.9"
    answer = second.ask("POST", sale.reserve_path("B-1"), {})
    assert answer.status_code == (201 if proxies else 429)
    second.headers["X-Forwarded-For"] = "203.0.113.8, 198.51.100.9"  # anybody can send what stands further left
    assert second.ask("POST", sale.reserve_path("B-2"), {}).status_code == 429
    app_server.close()


def test_holds_last_as_long_as_the_policy_says(app_server: AppServer) -> None:
    sale = a_seated_event(app_server)
    sale.api.patch("/api/organisation/seating-policy", {"default_hold_ttl_minutes": 12})
    assert sale.reserve(sale.guest(), "A-1")["message"] == "Seat reserved for 12 minutes. Proceed to checkout."


def test_a_hold_can_be_extended_once(sale: SeatedEvent) -> None:
    guest = sale.guest()
    hold = sale.reserve(guest, "A-1")
    sale.app_server.advance(4 * MINUTE)
    path = f"/api/holds/{hold['hold_id']}/extend"
    assert guest.post(path, {}, 200)["data"]["expires_in_seconds"] == 300
    assert guest.refused("POST", path, {}) == (409, "hold_extended_already")
    sale.app_server.advance(5 * MINUTE)
    assert guest.refused("POST", path, {}) == (409, "hold_expired")
    sale.reserve(sale.guest(), "A-1")


def test_a_bearer_releases_only_their_own_holds_and_twice_is_harmless(sale: SeatedEvent) -> None:
    guest = sale.guest()
    hold = sale.reserve(guest, "A-1")
    path = f"/api/holds/{hold['hold_id']}"
    assert sale.guest().refused("DELETE", path) == (404, "hold_not_found")
    assert guest.ask("DELETE", path).status_code == guest.ask("DELETE", path).status_code == 204
    sale.reserve(sale.guest(), "A-1")


def test_an_idempotency_key_gets_the_same_response_after_the_hold_ran_out(sale: SeatedEvent) -> None:
    guest = sale.guest()
    send = {"Idempotency-Key": "k"}
    first = guest.ask("POST", sale.reserve_path("A-1"), {}, **send)
    sale.app_server.advance(6 * MINUTE)
    again = guest.ask("POST", sale.reserve_path("A-1"), {}, **send)
    assert first.status_code == again.status_code == 201 and first.json == again.json
    assert again.headers["Idempotent-Replay"] == "true"
    other = guest.ask("POST", sale.reserve_path("A-3"), {}, **send)
    assert (other.status_code, other.json["error"]["code"] if other.json else "") == (409, "idempotency_key_reused")
