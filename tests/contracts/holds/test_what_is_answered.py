"""What the answer to a hold says besides the seat: companions and their price, previews, single seats that are left."""

from __future__ import annotations

from typing import Any

from sync_server.holds.attempts.previews import PER_BEARER
from tests.app_server import ApiClient, AppServer
from tests.builders import MINUTE, a_ticket_type
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.holds.test_group_holds import ask, ids
from tests.contracts.seating.stage import with_wheelchairs

POLICY = "/api/organisation/seating-policy"


def priced() -> dict[str, Any]:
    """A-1 is a wheelchair place, A-2 its companion seat, and all seats cost the same."""
    layout = with_wheelchairs()
    for seat in layout["zones"][0]["seats"]:
        seat["price_category"] = "Full"
    return layout


def test_the_answer_for_a_wheelchair_place_names_the_companion_seat(app_server: AppServer) -> None:
    sale = a_seated_event(app_server, layout=priced())
    sale.api.patch(POLICY, {"companion_price_category": "Companion"})
    guest = sale.guest()
    held = sale.reserve(guest, "A-1")
    (companion,) = held["companion_seats"]
    assert (companion["seat_id"], companion["row"], companion["seat_number"]) == (sale.seats["A-2"][0], "A", "2")
    assert (held["price_category"], companion["price_category"]) == ("Full", "Companion")
    assert "Kept for your companion: row A, seat 2." in held["message"]
    assert sale.reserve(guest, "A-2")["price_category"] == "Companion"
    assert sale.reserve(guest, "A-1", 200)["companion_seats"] == [], "it is held by now"
    assert sale.api.get(f"{sale.path}/seatmap")["plan"]["companion_price_category"] == "Companion"


def test_with_a_key_and_for_a_group_the_answer_is_the_same(app_server: AppServer) -> None:
    sale = a_seated_event(app_server, layout=priced())
    sale.api.patch(POLICY, {"companion_price_category": "Companion"})
    guest = sale.guest()
    answer = guest.ask("POST", sale.reserve_path("A-1"), {}, **{"Idempotency-Key": "k"}).json
    assert answer is not None and [each["seat_name"] for each in answer["data"]["companion_seats"]] == ["A-2"]
    group = ask(sale, guest, seat_ids=ids(sale, "A-2", "A-3"))["holds"]
    assert {each["seat_name"]: each["price_category"] for each in group} == {"A-2": "Companion", "A-3": "Full"}


def test_a_companion_seat_is_issued_as_the_ticket_type_of_its_price_category(app_server: AppServer) -> None:
    sale = a_seated_event(app_server, layout=priced())
    sale.api.patch(POLICY, {"companion_price_category": "Companion"})
    for name in ("Full", "Companion"):
        sale.api.post(f"{sale.path}/ticket-types", a_ticket_type(name=name, zone=1))
    made = sale.api.post(f"{sale.path}/tickets", {"seats": [{"seat_id": "A-1"}, {"seat_id": "A-2"}]})["items"]
    assert {ticket["seat_id"]: ticket["ticket_type"] for ticket in made} == {"A-1": 1, "A-2": 2}


def a_preview(sale: SeatedEvent, who: ApiClient, status: int = 200, **body: Any) -> Any:
    answer = who.ask("POST", f"{sale.path}/holds/preview", body)
    assert answer.status_code == status and answer.json is not None, answer.get_data(as_text=True)
    return answer.json["data"] if status == 200 else answer.json["error"]


def test_a_guest_sees_which_seats_it_would_get_and_takes_none(app_server: AppServer) -> None:
    sale = a_seated_event(app_server, layout=with_wheelchairs())
    guest = sale.guest()
    seen = a_preview(sale, guest, best=3)
    assert sale.states() == {} and sale.rows("SELECT COUNT(*) FROM holds") == [(0,)]
    assert "3 seats together in Stalls, row" in seen["message"] and seen["grade"] == "together"
    held = ask(sale, guest, best=3)["holds"]
    assert {each["seat_id"] for each in seen["seats"]} == {each["seat_id"] for each in held}
    assert not {each["seat_id"] for each in a_preview(sale, sale.guest(), best=3)["seats"]} & {
        each["seat_id"] for each in held
    }
    place = a_preview(sale, guest, best=1, wheelchairs=1)
    assert [each["seat_name"] for each in (*place["seats"], *place["companion_seats"])] == ["A-1", "A-2"]
    sale.api.patch(POLICY, {"group_adjacency_strict": True})
    assert a_preview(sale, guest, 409, best=9)["code"] == "not_together"
    assert a_preview(sale, guest, 400, count=2)["code"] == "invalid_request"


def test_whoever_has_seen_seats_may_ask_for_others(app_server: AppServer) -> None:
    sale = a_seated_event(app_server, layout=with_wheelchairs())
    guest, seen = sale.guest(), list[str]()
    for _ in range(4):
        seats = [each["seat_name"] for each in a_preview(sale, guest, best=3, passed_over_seat_ids=seen)["seats"]]
        assert not {*seats} & {*seen}
        seen += seats
    assert a_preview(sale, guest, 409, best=3, passed_over_seat_ids=seen)["code"] == "not_together"
    first = [each["seat_name"] for each in a_preview(sale, sale.guest(), best=3)["seats"]]
    assert first == seen[:3], "for everybody else they are as good as before"
    place = {"best": 1, "wheelchairs": 1, "passed_over_seat_ids": ["A-1"]}
    assert a_preview(sale, guest, 409, **place)["code"] == "no_wheelchair_place"
    assert a_preview(sale, guest, 400, count=2, passed_over_seat_ids=["A-1"])["code"] == "invalid_request"


def test_a_preview_is_for_guests_of_events_on_sale_and_not_for_robots(app_server: AppServer) -> None:
    sale = a_seated_event(app_server)
    assert ApiClient(app_server.app.test_client(), {}).refused("POST", f"{sale.path}/holds/preview", {"best": 2}) == (
        401,
        "unauthorized",
    )
    guest = sale.guest()
    for _ in range(PER_BEARER):
        a_preview(sale, guest, best=2)
    assert a_preview(sale, guest, 429, best=2)["code"] == "rate_limited"
    a_preview(sale, sale.guest(), best=2)
    app_server.advance(MINUTE)
    a_preview(sale, guest, best=2)
    sale.api.post(f"{sale.path}/cancel", {}, 200)
    assert a_preview(sale, guest, 400, best=2)["code"] == "event_unavailable"


def singles(sale: SeatedEvent) -> dict[str, float]:
    """The metric, by reason."""
    samples = (sample for metric in sale.app_server.parts.metrics.registry.collect() for sample in metric.samples)
    return {
        sample.labels["reason"]: sample.value
        for sample in samples
        if sample.name == "gatehouse_single_seats_left_total"
    }


def test_a_hold_that_leaves_a_single_seat_is_counted_by_why_it_may(app_server: AppServer) -> None:
    sale = a_seated_event(app_server)
    sale.reserve(sale.api, "A-2", override=True)
    assert singles(sale) == {"override": 1}
    sale.sell(*(name for name in sale.seats if name not in {"A-1", "A-2", "B-1", "B-2", "B-3"}))
    ask(sale, sale.guest(), seat_ids=ids(sale, "B-1", "B-2"))
    assert singles(sale) == {"override": 1, "leaves_singles": 1}
    lenient = a_seated_event(app_server, slug="lenient")
    lenient.api.patch(POLICY, {"orphan_avoidance_strict": False})
    lenient.reserve(lenient.guest(), "A-2")
    lenient.reserve(lenient.guest(), "B-1")
    assert singles(sale) == {"override": 1, "leaves_singles": 2}


def test_the_audit_names_the_seat_as_people_do(app_server: AppServer) -> None:
    sale = a_seated_event(app_server)
    guest = sale.guest()
    holds = [sale.reserve(guest, "A-1"), *ask(sale, guest, seat_ids=ids(sale, "B-1", "B-2"))["holds"]]
    guest.post(f"/api/holds/{holds[0]['hold_id']}/extend", {}, 200)
    guest.ask("DELETE", f"/api/holds/{holds[1]['hold_id']}")
    app_server.advance(11 * MINUTE)
    app_server.run_worker()
    query = "SELECT action, after FROM audit_lines WHERE subject_kind = 'hold' ORDER BY id"
    named = [(action, str(after)) for action, after in sale.rows(query)]
    for action, seat in (
        ("seat_reserved", "Stalls, row A, seat 1"),
        ("seat_reserved", "Stalls, row B, seat 2"),
        ("seat_hold_extended", "Stalls, row A, seat 1"),
        ("seat_hold_released", "Stalls, row B, seat 1"),
        ("seat_hold_expired", "Stalls, row B, seat 2"),
    ):
        assert any(one == action and f'"{seat}"' in after.replace("'", '"') for one, after in named), (
            action,
            seat,
            named,
        )
