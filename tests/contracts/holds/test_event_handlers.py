"""What happens to holds when their event changes, or when they run out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from sync_server.holds import service
from sync_server.holds.attempts.runtime import HoldRuntime
from sync_server.plumbing.api.schemas import iso
from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, HOUR, MINUTE, a_ticket_type, a_venue, an_event
from tests.contracts.holds.agreement import disagreements
from tests.contracts.holds.at_once import guests
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.seating.stage import a_layout, floor, stalls


def holds_of(who: ApiClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = who.get("/api/me/holds")["data"]["holds"]
    return found


def facts(sale: SeatedEvent, name: str) -> int:
    return int(sale.rows("SELECT COUNT(*) FROM outbox WHERE name = :name", name=name)[0][0])


def test_the_sweep_ends_holds_overdue_for_ten_seconds_once(sale: SeatedEvent) -> None:
    guest = sale.guest()
    sale.reserve(guest, "A-1")
    guest.post(f"{sale.path}/holds", {"count": 3, "zone_id": sale.zones["Floor"]})
    sale.app_server.advance(5_000)
    guest.post(f"{sale.path}/holds", {"count": 1, "zone_id": sale.zones["Floor"]})
    sale.app_server.advance(5 * MINUTE + 4_000)
    sale.app_server.run_worker()
    assert sale.states() == {"A-1": 1}  # free again, but not swept yet
    seatmap, counts = sale.api.get(f"{sale.path}/seatmap")["state"], sale.api.get(f"{sale.path}/occupancy")
    assert (counts["available"], counts["held"]) == (316, 0) and set(seatmap["seats"]) <= {"A", "="}
    sale.app_server.advance(1_000)
    sale.app_server.run_worker()
    assert sale.rows("SELECT held FROM event_places") == [(1,)]  # held five seconds later, and so swept later
    sale.app_server.advance(5_000)
    for _ in range(3):
        sale.app_server.advance(1_000)
        sale.app_server.run_worker()
    assert sale.states() == {"A-1": 0}
    assert sale.rows("SELECT status, COUNT(*) FROM holds GROUP BY status") == [("expired", 3)]
    assert sale.rows("SELECT held, sold FROM event_places") == [(0, 0)]
    assert facts(sale, "seat_hold_expired") == 3
    received = sale.rows("SELECT COUNT(*) FROM audit_lines WHERE action = 'seat_hold_expired'")
    assert received == [(3,)]


def test_a_hold_that_was_bought_is_not_swept(sale: SeatedEvent) -> None:
    hold = sale.reserve(sale.guest(), "A-1")
    sale.sell("A-1", holds=(hold["hold_id"],))
    sale.app_server.advance(HOUR)
    sale.app_server.run_worker()
    assert sale.states() == {"A-1": 2} and sale.rows("SELECT status FROM holds") == [("converted",)]


def test_cancelling_an_event_ends_all_holds_at_once(sale: SeatedEvent) -> None:
    guest = sale.guest()
    sale.reserve(guest, "A-1")
    guest.post(f"{sale.path}/holds", {"count": 2, "zone_id": sale.zones["Floor"]})
    sale.api.post(f"{sale.path}/cancel", {"reason": "storm"}, 200)
    assert sale.states() == {"A-1": 0} and holds_of(guest) == []
    assert sale.refused(guest, "A-2") == (400, "event_unavailable")
    assert facts(sale, "holds_ended") == 1


def test_holds_are_suspended_while_an_event_has_no_date(sale: SeatedEvent) -> None:
    guest, other = sale.guest(), sale.guest()
    sale.reserve(guest, "A-1")
    sale.app_server.advance(2 * MINUTE)
    sale.api.post(f"{sale.path}/postpone", {"reason": "storm"}, 200)
    sale.app_server.advance(DAY // 3)
    sale.app_server.run_worker()
    (held,) = holds_of(guest)
    assert (held["status"], held["expires_in_seconds"], held["held_until"]) == ("suspended", 180, None)
    assert sale.refused(other, "A-1") == (400, "event_not_available")
    assert guest.refused("POST", f"/api/holds/{held['hold_id']}/extend", {}) == (400, "event_not_available")
    sale.api.post(f"{sale.path}/reschedule", {"rescheduled_at": sale.app_server.now + 9 * DAY, "move_times": True}, 200)
    (held,) = holds_of(guest)
    assert (held["status"], held["expires_in_seconds"]) == ("held", 180)
    assert sale.refused(other, "A-1") == (409, "seat_held_by_another_user")
    sale.app_server.advance(3 * MINUTE)
    sale.reserve(other, "A-1")


def test_a_new_date_closes_no_sale_that_has_opened(sale: SeatedEvent) -> None:
    guest, other, opened = sale.guest(), sale.guest(), sale.app_server.now - HOUR
    sale.api.patch(sale.path, {"sale_start_at": opened})
    sale.reserve(guest, "A-1")
    sale.api.post(f"{sale.path}/postpone", {"reason": "storm"}, 200)
    start, end = (sale.app_server.now + days * DAY for days in (60, 61))
    moved = sale.api.post(f"{sale.path}/reschedule", {"rescheduled_at": start}, 200)
    assert moved["sale_start_at"] == sale.api.get(sale.path)["sale_start_at"] == iso(opened)
    assert moved["sale_end_at"] > iso(start - DAY) and moved["sale_end_at"] < iso(end)
    assert [held["status"] for held in holds_of(guest)] == ["held"]
    sale.reserve(other, "A-2")


def test_an_event_does_not_become_a_draft_while_a_seat_is_held(sale: SeatedEvent) -> None:
    guest = sale.guest()
    hold = sale.reserve(guest, "A-1")
    assert sale.api.refused("POST", f"{sale.path}/unpublish", {}) == (409, "event_has_holds")
    assert guest.ask("DELETE", f"/api/holds/{hold['hold_id']}").status_code == 204
    sale.api.post(f"{sale.path}/unpublish", {}, 200)
    assert sale.refused(guest, "A-1") == (400, "event_not_available")


def test_holds_outside_a_moved_sale_window_are_ended(sale: SeatedEvent) -> None:
    guest = sale.guest()
    sale.reserve(guest, "A-1")
    sale.api.patch(sale.path, {"sale_start_at": sale.app_server.now + HOUR})
    assert holds_of(guest) == [] and sale.states() == {"A-1": 0}
    assert sale.refused(guest, "A-1") == (400, "event_sales_closed")


def test_the_end_of_sales_ends_no_holds(sale: SeatedEvent) -> None:
    guest = sale.guest()
    sale.api.patch(sale.path, {"sale_end_at": sale.app_server.now + MINUTE})
    sale.reserve(guest, "A-1")
    sale.app_server.advance(2 * MINUTE)
    sale.api.patch(sale.path, {"description": "with strings"})
    assert len(holds_of(guest)) == 1
    assert sale.refused(guest, "A-2") == (400, "event_sales_closed")


def test_a_held_seat_freezes_the_layout(sale: SeatedEvent) -> None:
    chosen = sale.api.get(f"{sale.path}/layout")
    sale.reserve(sale.guest(), "A-1")
    assert sale.api.get(f"{sale.path}/layout")["frozen"]
    blocked = {"layout_id": chosen["layout_id"], "overrides": {"blocked_seat_ids": ["A-1"]}}
    assert sale.api.refused("PUT", f"{sale.path}/layout", blocked) == (409, "seats_taken")
    sale.api.put(f"{sale.path}/layout", {"layout_id": chosen["layout_id"], "overrides": {"blocked_seat_ids": ["A-8"]}})
    assert sale.refused(sale.guest(), "A-8") == (409, "seat_not_available")


def test_a_guest_who_leaves_releases_everything(sale: SeatedEvent) -> None:
    guest = sale.guest()
    sale.reserve(guest, "A-1")
    assert guest.ask("DELETE", f"/api/o/{sale.slug}/session").status_code == 204
    assert sale.states() == {"A-1": 0}


def test_holds_are_published_to_listening_pages(sale: SeatedEvent) -> None:
    from sync_server.plumbing.messaging import bus

    with sale.app_server.parts.bus.listen(
        [bus.occupancy_topic(sale.organisation_id, sale.event["number"])]
    ) as listener:
        sale.reserve(sale.guest(), "A-1")
        sale.app_server.run_worker()
        received = [dict(note.body) for note in listener.wait(30) if note.body.get("event") == "seat_held"]
    assert len(received) == 1
    counts = {name: received[0][name] for name in ("total", "available", "held", "sold", "percent_held")}
    expected = {"total": 316, "available": 315, "held": 1, "sold": 0, "percent_held": 0.3}
    assert counts == expected


def test_places_sold_without_a_layout_are_published_with_the_venue_capacity(sale: SeatedEvent) -> None:
    from sync_server.plumbing.messaging import bus

    venue = sale.api.post("/api/venues", a_venue(name="Barn", slug="barn", max_capacity=40))
    event = sale.api.post("/api/events", an_event(venue["id"], name="Open Air"))
    path = f"/api/events/{event['id']}"
    sale.api.post(f"{path}/ticket-types", a_ticket_type(quantity=10))
    sale.api.post(f"{path}/publish", {}, 200)
    with sale.app_server.parts.bus.listen([bus.occupancy_topic(sale.organisation_id, event["number"])]) as listener:
        sale.api.post(f"{path}/tickets", {"ticket_type": 1, "count": 4})
        sale.guest().post(f"{path}/holds", {"count": 2})
        sale.app_server.run_worker()
        received = [dict(note.body) for note in listener.wait(30) if "total" in note.body]
    counts = {name: received[-1][name] for name in ("total", "available", "held", "sold")}
    assert counts == {"total": 40, "available": 34, "held": 2, "sold": 4}


def test_changes_by_another_server_apply_here_too(postgres_url: str, tmp_path: Path) -> None:
    here, there = (AppServer(postgres_url, tmp_path, fresh=fresh) for fresh in (True, False))
    try:
        sale = a_seated_event(here)
        guest = sale.guest()
        hold = sale.reserve(guest, "A-1")
        boss = ApiClient(there.app.test_client(), sale.api.headers)
        boss.patch("/api/organisation/seating-policy", {"default_hold_ttl_minutes": 12})
        extended = guest.post(f"/api/holds/{hold['hold_id']}/extend", {}, 200)["data"]
        assert extended["expires_in_seconds"] == 12 * 60
        guest.ask("DELETE", f"/api/holds/{hold['hold_id']}")
        # Another layout, in which the first seat has another name.
        venue = f"/api/venues/{sale.event['venue_id']}/layouts"
        other = boss.post(venue, a_layout(name="Round", zones=[stalls("XY", 6), floor()]))
        boss.post(f"{venue}/{other['id']}/activate", status=200)
        boss.put(f"{sale.path}/layout", {"layout_id": other["id"]})
        elsewhere = ApiClient(there.app.test_client(), guest.headers)
        cookie = guest.client.get_cookie(f"gatehouse_guest_{sale.slug}")
        assert cookie is not None
        elsewhere.client.set_cookie(cookie.key, cookie.value)
        elsewhere.post(f"{sale.path}/holds", {"seat_ids": ["X-1"]})
        assert [held["seat_name"] for held in holds_of(guest)] == ["X-1"]
    finally:
        here.close()
        there.close()


def test_a_seat_seen_held_costs_one_short_query_until_it_is_free(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = (AppServer(postgres_url, tmp_path, fresh=fresh) for fresh in (True, False))
    statements: list[int] = []
    run_statement = HoldRuntime.run_statement
    monkeypatch.setattr(
        HoldRuntime,
        "run_statement",
        lambda app_server, values: statements.append(values["seat"]) or run_statement(app_server, values),
    )
    try:
        sale = a_seated_event(here)
        holder = sale.guest()
        hold = sale.reserve(holder, "A-1")
        late = [ApiClient(there.app.test_client(), {}) for _ in range(3)]
        for each in late:
            answer = each.client.post(f"/api/o/{sale.slug}/session")
            each.headers["X-CSRF-Token"] = answer.json["csrf_token"]  # type: ignore[index]
        refusals = [each.ask("POST", sale.reserve_path("A-1"), {"source": "web"}) for each in late]
        assert {answer.status_code for answer in refusals} == {409}
        assert len({answer.get_data().replace(_request_id(answer), b"") for answer in refusals}) == 1
        assert len(statements) == 2  # the holder's, and the first latecomer's; the others cost one short query
        holder.ask("DELETE", f"/api/holds/{hold['hold_id']}")  # the other server is not notified: there is no Redis
        assert late[2].post(sale.reserve_path("A-1"), {"source": "web"}, 201)["data"]["status"] == "held"
    finally:
        here.close()
        there.close()


def test_a_group_that_comes_too_late_is_refused_by_a_short_query_with_the_same_words(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = (AppServer(postgres_url, tmp_path, fresh=fresh) for fresh in (True, False))
    ways: list[str] = []

    def noted(name: str, of: object) -> None:
        original = getattr(of, name)
        monkeypatch.setattr(of, name, lambda *given, **named: ways.append(name) or original(*given, **named))

    noted("run_group_statement", HoldRuntime)
    noted("hold", service)
    short = HoldRuntime.taken_now
    try:
        sale = a_seated_event(here)
        late, holder = guests(sale, [there], 1)[0], sale.guest()
        held = holder.post(f"{sale.path}/holds", {"seat_ids": ["A-3", "A-4"]})["data"]["holds"]
        sale.sell("A-5", first=7)
        wanted = {"seat_ids": ["A-6", "A-4", "A-5", "A-3"]}
        ways.clear()
        monkeypatch.setattr(HoldRuntime, "taken_now", lambda *_: {})
        answers = [late.ask("POST", f"{sale.path}/holds", wanted)]
        monkeypatch.setattr(HoldRuntime, "taken_now", short)
        answers += [late.ask("POST", f"{sale.path}/holds", wanted) for _ in range(3)]
        assert {answer.status_code for answer in answers} == {409}
        assert len({answer.get_data().replace(_request_id(answer), b"") for answer in answers}) == 1
        assert b"A-4" in answers[0].get_data() and b"A-5" in answers[0].get_data()
        first, second = ["run_group_statement", "hold"], ["run_group_statement"]
        assert ways == first + second, "the transaction, the short query after the statement, and twice before it"
        for each in held:  # the other server is not notified: there is no Redis
            holder.ask("DELETE", f"/api/holds/{each['hold_id']}")
        assert late.post(f"{sale.path}/holds", {"seat_ids": ["A-4", "A-3"]})["data"]["holds"]
    finally:
        here.close()
        there.close()


def _request_id(answer: TestResponse) -> bytes:
    return str(answer.json["error"].get("request_id", "-")).encode()  # type: ignore[index]


def test_a_clock_set_an_hour_back_or_forward_holds_no_seat_twice(sale: SeatedEvent) -> None:
    first, second = sale.guest(), sale.guest()
    sale.reserve(first, "A-1")
    first.post(f"{sale.path}/holds", {"count": 2, "zone_id": sale.zones["Floor"]})
    sale.app_server.advance(-HOUR)
    sale.app_server.run_worker()
    assert sale.refused(second, "A-1") == (409, "seat_held_by_another_user")
    sale.reserve(first, "A-1", 200)
    sale.reserve(second, "B-1")  # made by the wrong clock, and valid for five minutes by it
    sale.app_server.advance(2 * HOUR)
    sale.reserve(second, "A-1")  # it has run out by this clock
    for _ in range(2):
        sale.app_server.advance(1_000)
        sale.app_server.run_worker()
    assert sale.rows("SELECT status, COUNT(*) FROM holds GROUP BY status ORDER BY status") == [
        ("active", 1),
        ("expired", 3),
    ]
    assert sale.states() == {"A-1": 1, "B-1": 0} and sale.rows("SELECT held FROM event_places") == [(0,)]
    with sale.app_server.database.reading() as session:
        assert disagreements(session, sale.id) == []


def test_the_box_office_sells_a_seat_the_moment_its_hold_runs_out(sale: SeatedEvent) -> None:
    guest = sale.guest()
    hold = sale.reserve(guest, "A-1")
    sale.api.post(f"{sale.path}/ticket-types", a_ticket_type(name="Seat", zone=1, quantity=10))
    order = {"ticket_type": 1, "seats": [{"seat_id": "A-1"}]}
    sale.app_server.advance(5 * MINUTE - 1)
    assert sale.api.refused("POST", f"{sale.path}/tickets", order) == (409, "seat_taken")
    sale.app_server.advance(1)
    sale.api.post(f"{sale.path}/tickets", order)
    assert sale.states() == {"A-1": 2}
    assert sale.rows("SELECT id, status FROM holds") == [(hold["hold_id"], "expired")]
    assert guest.refused("POST", f"/api/holds/{hold['hold_id']}/extend", {}) == (409, "hold_expired")
