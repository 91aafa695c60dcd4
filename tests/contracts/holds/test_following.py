"""What becomes of holds when something becomes of their event, or when their time is over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from sync_server.holds.box_office import BoxOffice
from tests.builders import DAY, HOUR, MINUTE, a_ticket_type, a_venue, an_event
from tests.contracts.holds.agreement import disagreements
from tests.contracts.holds.house import House, a_house
from tests.contracts.seating.stage import a_layout, floor, stalls
from tests.office import Desk, Office


def holds_of(who: Desk) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = who.get("/api/me/holds")["data"]["holds"]
    return found


def facts(house: House, name: str) -> int:
    return int(house.rows("SELECT COUNT(*) FROM outbox WHERE name = :name", name=name)[0][0])


def test_the_sweeper_ends_what_has_been_over_for_ten_seconds_once(house: House) -> None:
    guest = house.guest()
    house.reserve(guest, "A-1")
    guest.post(f"{house.path}/holds", {"count": 3, "zone_id": house.zones["Floor"]})
    house.office.advance(5_000)
    guest.post(f"{house.path}/holds", {"count": 1, "zone_id": house.zones["Floor"]})
    house.office.advance(5 * MINUTE + 4_000)
    house.office.work()
    assert house.states() == {"A-1": 1}  # nobody's any more, but not swept yet
    seatmap, counts = house.desk.get(f"{house.path}/seatmap")["state"], house.desk.get(f"{house.path}/occupancy")
    assert (counts["available"], counts["held"]) == (316, 0) and set(seatmap["seats"]) <= {"A", "="}
    house.office.advance(1_000)
    house.office.work()
    assert house.rows("SELECT held FROM event_places") == [(1,)]  # held five seconds later, and so swept later
    house.office.advance(5_000)
    for _ in range(3):
        house.office.advance(1_000)
        house.office.work()
    assert house.states() == {"A-1": 0}
    assert house.rows("SELECT status, COUNT(*) FROM holds GROUP BY status") == [("expired", 3)]
    assert house.rows("SELECT held, sold FROM event_places") == [(0, 0)]
    assert facts(house, "seat_hold_expired") == 3
    told = house.rows("SELECT COUNT(*) FROM audit_lines WHERE action = 'seat_hold_expired'")
    assert told == [(3,)]


def test_a_hold_that_was_bought_is_not_swept(house: House) -> None:
    hold = house.reserve(house.guest(), "A-1")
    house.sell("A-1", holds=(hold["hold_id"],))
    house.office.advance(HOUR)
    house.office.work()
    assert house.states() == {"A-1": 2} and house.rows("SELECT status FROM holds") == [("converted",)]


def test_cancelling_an_event_frees_all_holds_in_the_same_moment(house: House) -> None:
    guest = house.guest()
    house.reserve(guest, "A-1")
    guest.post(f"{house.path}/holds", {"count": 2, "zone_id": house.zones["Floor"]})
    house.desk.post(f"{house.path}/cancel", {"reason": "storm"}, 200)
    assert house.states() == {"A-1": 0} and holds_of(guest) == []
    assert house.refused(guest, "A-2") == (400, "event_unavailable")
    assert facts(house, "holds_ended") == 1


def test_time_stands_still_while_an_event_has_no_date(house: House) -> None:
    guest, other = house.guest(), house.guest()
    house.reserve(guest, "A-1")
    house.office.advance(2 * MINUTE)
    house.desk.post(f"{house.path}/postpone", {"reason": "storm"}, 200)
    house.office.advance(DAY // 3)
    house.office.work()
    (held,) = holds_of(guest)
    assert (held["status"], held["expires_in_seconds"], held["held_until"]) == ("suspended", 180, None)
    assert house.refused(other, "A-1") == (400, "event_not_available")
    assert guest.refused("POST", f"/api/holds/{held['hold_id']}/extend", {}) == (400, "event_not_available")
    house.desk.post(f"{house.path}/reschedule", {"rescheduled_at": house.office.now + 9 * DAY, "move_times": True}, 200)
    (held,) = holds_of(guest)
    assert (held["status"], held["expires_in_seconds"]) == ("held", 180)
    assert house.refused(other, "A-1") == (409, "seat_held_by_another_user")
    house.office.advance(3 * MINUTE)
    house.reserve(other, "A-1")


def test_an_event_does_not_become_a_draft_while_somebody_holds_a_seat(house: House) -> None:
    guest = house.guest()
    hold = house.reserve(guest, "A-1")
    assert house.desk.refused("POST", f"{house.path}/unpublish", {}) == (409, "event_has_holds")
    assert guest.ask("DELETE", f"/api/holds/{hold['hold_id']}").status_code == 204
    house.desk.post(f"{house.path}/unpublish", {}, 200)
    assert house.refused(guest, "A-1") == (400, "event_not_available")


def test_a_sale_window_that_moves_away_takes_the_holds_along(house: House) -> None:
    guest = house.guest()
    house.reserve(guest, "A-1")
    house.desk.patch(house.path, {"sale_start_at": house.office.now + HOUR})
    assert holds_of(guest) == [] and house.states() == {"A-1": 0}
    assert house.refused(guest, "A-1") == (400, "event_sales_closed")


def test_the_end_of_sales_takes_nothing_from_those_who_hold(house: House) -> None:
    guest = house.guest()
    house.desk.patch(house.path, {"sale_end_at": house.office.now + MINUTE})
    house.reserve(guest, "A-1")
    house.office.advance(2 * MINUTE)
    house.desk.patch(house.path, {"description": "with strings"})
    assert len(holds_of(guest)) == 1
    assert house.refused(guest, "A-2") == (400, "event_sales_closed")


def test_a_held_seat_freezes_the_layout(house: House) -> None:
    chosen = house.desk.get(f"{house.path}/layout")
    house.reserve(house.guest(), "A-1")
    assert house.desk.get(f"{house.path}/layout")["frozen"]
    blocked = {"layout_id": chosen["layout_id"], "overrides": {"blocked_seat_ids": ["A-1"]}}
    assert house.desk.refused("PUT", f"{house.path}/layout", blocked) == (409, "seats_taken")
    house.desk.put(
        f"{house.path}/layout", {"layout_id": chosen["layout_id"], "overrides": {"blocked_seat_ids": ["A-8"]}}
    )
    assert house.refused(house.guest(), "A-8") == (409, "seat_not_available")


def test_a_guest_who_leaves_gives_everything_up(house: House) -> None:
    guest = house.guest()
    house.reserve(guest, "A-1")
    assert guest.ask("DELETE", f"/api/o/{house.slug}/session").status_code == 204
    assert house.states() == {"A-1": 0}


def test_what_is_held_is_told_to_pages_that_listen(house: House) -> None:
    from sync_server.plumbing import bus

    with house.office.parts.bus.listen([bus.of_occupancy(house.organisation_id, house.event["number"])]) as listener:
        house.reserve(house.guest(), "A-1")
        house.office.work()
        told = [dict(note.body) for note in listener.wait(30) if note.body.get("event") == "seat_held"]
    assert len(told) == 1
    counts = {name: told[0][name] for name in ("total", "total_available", "total_held", "total_sold", "percent_held")}
    expected = {"total": 316, "total_available": 315, "total_held": 1, "total_sold": 0, "percent_held": 0.3}
    assert counts == expected


def test_pages_hear_of_places_sold_without_a_layout_in_a_house_that_bounds_them(house: House) -> None:
    from sync_server.plumbing import bus

    venue = house.desk.post("/api/venues", a_venue(name="Barn", slug="barn", max_capacity=40))
    event = house.desk.post("/api/events", an_event(venue["id"], name="Open Air"))
    path = f"/api/events/{event['id']}"
    house.desk.post(f"{path}/ticket-types", a_ticket_type(quantity=10))
    house.desk.post(f"{path}/publish", {}, 200)
    with house.office.parts.bus.listen([bus.of_occupancy(house.organisation_id, event["number"])]) as listener:
        house.desk.post(f"{path}/tickets", {"ticket_type": 1, "count": 4})
        house.guest().post(f"{path}/holds", {"count": 2})
        house.office.work()
        told = [dict(note.body) for note in listener.wait(30) if "total" in note.body]
    counts = {name: told[-1][name] for name in ("total", "total_available", "total_held", "total_sold")}
    assert counts == {"total": 40, "total_available": 34, "total_held": 2, "total_sold": 4}


def test_what_another_server_changed_is_known_here_too(postgres_url: str, tmp_path: Path) -> None:
    here, there = (Office(postgres_url, tmp_path, fresh=fresh) for fresh in (True, False))
    try:
        house = a_house(here)
        guest = house.guest()
        hold = house.reserve(guest, "A-1")
        boss = Desk(there.app.test_client(), house.desk.headers)
        boss.patch("/api/organisation/seating-policy", {"default_hold_ttl_minutes": 12})
        extended = guest.post(f"/api/holds/{hold['hold_id']}/extend", {}, 200)["data"]
        assert extended["expires_in_seconds"] == 12 * 60
        guest.ask("DELETE", f"/api/holds/{hold['hold_id']}")
        # Another hall altogether, in which the first seat is called otherwise.
        venue = f"/api/venues/{house.event['venue_id']}/layouts"
        other = boss.post(venue, a_layout(name="Round", zones=[stalls("XY", 6), floor()]))
        boss.post(f"{venue}/{other['id']}/activate", status=200)
        boss.put(f"{house.path}/layout", {"layout_id": other["id"]})
        elsewhere = Desk(there.app.test_client(), guest.headers)
        cookie = guest.client.get_cookie(f"gatehouse_guest_{house.slug}")
        assert cookie is not None
        elsewhere.client.set_cookie(cookie.key, cookie.value)
        elsewhere.post(f"{house.path}/holds", {"seat_ids": ["X-1"]})
        assert [held["seat_name"] for held in holds_of(guest)] == ["X-1"]
    finally:
        here.close()
        there.close()


def test_a_seat_seen_held_is_looked_at_in_short_and_free_as_soon_as_it_is(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = (Office(postgres_url, tmp_path, fresh=fresh) for fresh in (True, False))
    asked: list[int] = []
    ask = BoxOffice.ask
    monkeypatch.setattr(BoxOffice, "ask", lambda office, values: asked.append(values["seat"]) or ask(office, values))
    try:
        house = a_house(here)
        holder = house.guest()
        hold = house.reserve(holder, "A-1")
        late = [Desk(there.app.test_client(), {}) for _ in range(3)]
        for each in late:
            answer = each.client.post(f"/api/o/{house.slug}/session")
            each.headers["X-CSRF-Token"] = answer.json["csrf_token"]  # type: ignore[index]
        refusals = [each.ask("POST", house.reserve_path("A-1"), {"source": "web"}) for each in late]
        assert {answer.status_code for answer in refusals} == {409}
        assert len({answer.get_data().replace(_request_id(answer), b"") for answer in refusals}) == 1
        assert len(asked) == 2  # the holder's, and the first who came too late; the others cost one short look
        holder.ask("DELETE", f"/api/holds/{hold['hold_id']}")  # nobody tells the other server: there is no Redis
        assert late[2].post(house.reserve_path("A-1"), {"source": "web"}, 201)["data"]["status"] == "held"
    finally:
        here.close()
        there.close()


def _request_id(answer: TestResponse) -> bytes:
    return str(answer.json["error"].get("request_id", "-")).encode()  # type: ignore[index]


def test_a_clock_that_is_set_an_hour_back_or_forward_doubles_no_seat(house: House) -> None:
    first, second = house.guest(), house.guest()
    house.reserve(first, "A-1")
    first.post(f"{house.path}/holds", {"count": 2, "zone_id": house.zones["Floor"]})
    house.office.advance(-HOUR)
    house.office.work()
    assert house.refused(second, "A-1") == (409, "seat_held_by_another_user")
    house.reserve(first, "A-1", 200)
    house.reserve(second, "B-1")  # made by the wrong clock, and good for five minutes by it
    house.office.advance(2 * HOUR)
    house.reserve(second, "A-1")  # its time is over by this clock
    for _ in range(2):
        house.office.advance(1_000)
        house.office.work()
    assert house.rows("SELECT status, COUNT(*) FROM holds GROUP BY status ORDER BY status") == [
        ("active", 1),
        ("expired", 3),
    ]
    assert house.states() == {"A-1": 1, "B-1": 0} and house.rows("SELECT held FROM event_places") == [(0,)]
    with house.office.database.reading() as session:
        assert disagreements(session, house.id) == []


def test_whoever_buys_at_the_counter_gets_what_is_over_at_that_instant(house: House) -> None:
    guest = house.guest()
    hold = house.reserve(guest, "A-1")
    house.desk.post(f"{house.path}/ticket-types", a_ticket_type(name="Seat", zone=1, quantity=10))
    wish = {"ticket_type": 1, "seats": [{"seat_id": "A-1"}]}
    house.office.advance(5 * MINUTE - 1)
    assert house.desk.refused("POST", f"{house.path}/tickets", wish) == (409, "seat_taken")
    house.office.advance(1)
    house.desk.post(f"{house.path}/tickets", wish)
    assert house.states() == {"A-1": 2}
    assert house.rows("SELECT id, status FROM holds") == [(hold["hold_id"], "expired")]
    assert guest.refused("POST", f"/api/holds/{hold['hold_id']}/extend", {}) == (409, "hold_expired")
